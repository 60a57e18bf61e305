/* Runs an Ingot asset from plain C: no Python, no PyTorch, no C++.
 *
 *   cc -std=c11 examples/c/embed.c -Iinclude -Lbuild/lib -lingot_runtime -Wl,-rpath,"$PWD/build/lib" -o embed
 *   ./embed model.ingot 8
 *
 * Inputs are filled with 0, 1, 2, ... modulo 10. Dimensions that are not fixed get the size of the second argument.
 * The inputs are read off ingot_program_describe(); a real program knows them. Arguments that the model changes are
 * states: the call changes them where they are, and they are printed too. */
#include "ingot/ingot.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_INPUTS = 16, MAX_RANK = 8, MAX_NAME = 64 };

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, ingot_last_error());
  return 1;
}

static ingot_dtype dtype_of(const char *name, size_t length) {
  for (int dtype = INGOT_BOOL; dtype <= INGOT_COMPLEX128; ++dtype) {
    const char *known = ingot_dtype_name((ingot_dtype)dtype);
    if (strlen(known) == length && strncmp(known, name, length) == 0)
      return (ingot_dtype)dtype;
  }
  return INGOT_FLOAT32;
}

/* Reads `"shape":[1,"s0",64]`; symbols become `dynamic`. */
static int32_t read_shape(const char *text, int64_t dynamic, int64_t *sizes) {
  int32_t rank = 0;
  for (const char *at = strchr(text, '[') + 1; *at != ']' && rank < MAX_RANK; ++rank) {
    sizes[rank] = *at == '"' ? dynamic : strtoll(at, NULL, 10);
    at += strcspn(at, ",]");
    at += *at == ',';
  }
  return rank;
}

/* Element i of the pattern, as the bytes of its type. Types without an example here stay zero. */
static void fill(ingot_tensor *tensor, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    switch (tensor->dtype) {
    case INGOT_FLOAT32:
      ((float *)tensor->data)[i] = (float)(i % 10);
      break;
    case INGOT_FLOAT64:
      ((double *)tensor->data)[i] = (double)(i % 10);
      break;
    case INGOT_INT64:
      ((int64_t *)tensor->data)[i] = i % 10;
      break;
    case INGOT_INT32:
      ((int32_t *)tensor->data)[i] = (int32_t)(i % 10);
      break;
    case INGOT_BOOL:
      ((uint8_t *)tensor->data)[i] = 1;
      break;
    default:
      break;
    }
  }
}

/* Reads `"state":"cache"` of an input, if it has one. */
static void read_state(const char *text, char *name) {
  const char *end = strchr(text, '}');
  const char *at = strstr(text, "\"state\":\"");
  name[0] = 0;
  if (at && end && at < end) {
    at += strlen("\"state\":\"");
    snprintf(name, MAX_NAME, "%.*s", (int)strcspn(at, "\""), at);
  }
}

/* Makes the inputs of the first entry point, with the names of those that are states; returns how many, or -1. */
static int make_inputs(const char *description, int64_t dynamic, ingot_tensor *inputs, int64_t (*sizes)[MAX_RANK],
                       char (*states)[MAX_NAME]) {
  const char *at = strstr(description, "\"inputs\":[");
  /* The list of inputs ends where the next member of the entry point begins. */
  const char *end = at ? strstr(at, "}],\"") : NULL;
  int count = 0;
  if (!at)
    return -1;
  while (end && count < MAX_INPUTS && (at = strstr(at, "\"dtype\":\"")) != NULL && at < end) {
    at += strlen("\"dtype\":\"");
    const char *shape = strstr(at, "\"shape\":[");
    ingot_tensor *input = &inputs[count];
    int64_t elements = 1;
    input->dtype = dtype_of(at, strcspn(at, "\""));
    input->rank = read_shape(shape, dynamic, sizes[count]);
    input->sizes = sizes[count];
    input->strides = NULL;
    for (int32_t i = 0; i < input->rank; ++i)
      elements *= sizes[count][i];
    input->data = calloc((size_t)elements + 1, ingot_dtype_size(input->dtype));
    if (!input->data)
      return -1;
    fill(input, elements);
    read_state(shape, states[count]);
    ++count;
    at = shape;
  }
  return count;
}

static void print_tensor(const ingot_tensor *tensor) {
  int64_t count = 1;
  printf("%s [", ingot_dtype_name(tensor->dtype));
  for (int32_t i = 0; i < tensor->rank; ++i) {
    printf("%s%" PRId64, i ? ", " : "", tensor->sizes[i]);
    count *= tensor->sizes[i];
  }
  printf("]");
  for (int64_t i = 0; i < count && i < 5; ++i) {
    if (tensor->dtype == INGOT_FLOAT32)
      printf(" %g", (double)((const float *)tensor->data)[i]);
    else if (tensor->dtype == INGOT_INT64)
      printf(" %" PRId64, ((const int64_t *)tensor->data)[i]);
  }
  printf("%s\n", count > 5 ? " ..." : "");
}

/* Calls the only entry point and prints what comes out of it. */
static int call(ingot_program *program, const ingot_tensor *inputs, int count, char (*names)[MAX_NAME]) {
  ingot_tensor plain[MAX_INPUTS];
  ingot_state states[MAX_INPUTS];
  size_t plain_count = 0, state_count = 0;
  for (int i = 0; i < count; ++i) {
    if (names[i][0])
      states[state_count++] = (ingot_state){names[i], inputs[i]};
    else
      plain[plain_count++] = inputs[i];
  }
  ingot_result *result = NULL;
  if (ingot_program_run_with_states(program, NULL, plain, plain_count, states, state_count, &result) != INGOT_OK)
    return fail("the call failed");
  for (size_t i = 0; i < ingot_result_count(result); ++i) {
    printf("output %zu: ", i);
    print_tensor(ingot_result_tensor(result, i));
  }
  for (size_t i = 0; i < state_count; ++i) {
    printf("state %s: ", states[i].name);
    print_tensor(&states[i].tensor);
  }
  ingot_result_free(result);
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: %s MODEL.ingot [SIZE]\n", argv[0]);
    return 2;
  }
  ingot_program *program = NULL;
  if (ingot_program_load(argv[1], &program) != INGOT_OK)
    return fail("cannot load the model");
  const char *description = ingot_program_describe(program);
  printf("%s\n", description);

  ingot_tensor inputs[MAX_INPUTS] = {0};
  int64_t sizes[MAX_INPUTS][MAX_RANK];
  char states[MAX_INPUTS][MAX_NAME];
  int count = make_inputs(description, argc > 2 ? strtoll(argv[2], NULL, 10) : 8, inputs, sizes, states);
  if (count < 0) {
    fprintf(stderr, "cannot make inputs for this model\n");
    return 1;
  }
  int status = call(program, inputs, count, states);
  ingot_program_free(program);
  for (int i = 0; i < count; ++i)
    free(inputs[i].data);
  return status;
}
