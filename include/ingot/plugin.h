/* Ingot's plugin interface: lowerings of operators, written outside of Ingot.
 *
 * A lowering turns one node of an exported program into ops of Ingot's dialect. It is a function
 *
 *   int32_t lower(const ingot_builder_api *api, ingot_builder *builder, void *user);
 *
 * which asks the builder about its node, creates ops, hands over the results with api->set_results, and returns
 * INGOT_PLUGIN_OK. Everything that can fail returns a code other than INGOT_PLUGIN_OK (or a null handle), and
 * api->last_error then holds the message; a lowering that gives up calls api->fail with its own, or just returns the code.
 * Nothing aborts: what was built is taken back, and the message joins the report of the conversion.
 *
 * A plugin is a shared library that exports
 *
 *   INGOT_PLUGIN_EXPORT int32_t ingot_plugin_register(const ingot_plugin_api *api);
 *
 * and calls api->add_lowering for each of its operators, which `ingot convert --plugin lib.so` then lowers, and
 * api->add_converter for each kind of node that `ingot extract --plugin lib.so` shall write in another way.
 *
 * Handles and texts belong to the builder and live as long as the lowering runs. The layout of these structs changes only
 * together with INGOT_PLUGIN_VERSION. ingot/lowering.hpp is the same for C++. */
#ifndef INGOT_PLUGIN_H
#define INGOT_PLUGIN_H

#include "ingot/ingot.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 1: first. 2: bodies of branches, loops and functions; converters of nodes. */
#define INGOT_PLUGIN_VERSION 2
#define INGOT_PLUGIN_EXPORT __attribute__((visibility("default")))

enum { INGOT_PLUGIN_OK = 0, INGOT_PLUGIN_FAILED = 1 };

/* A size that is only known when the program runs. */
#define INGOT_DYNAMIC INT64_MIN
/* No element type: what the op decides itself. */
#define INGOT_NO_DTYPE (-1)

typedef struct ingot_builder ingot_builder;
typedef const struct ingot_value_impl *ingot_value;       /* a result of an op, or an argument */
typedef const struct ingot_argument_impl *ingot_argument; /* an argument of the node */
typedef const struct ingot_body_impl *ingot_body;         /* ops for a branch, a loop or a function */

/* A tensor, or a symbolic number: `is_number` with int64, float64 or bool. */
typedef struct ingot_type {
  int32_t is_number;
  int32_t dtype; /* ingot_dtype */
  int32_t rank;
  const int64_t *sizes; /* INGOT_DYNAMIC where unknown */
} ingot_type;

typedef enum ingot_argument_kind {
  INGOT_ARGUMENT_NONE,
  INGOT_ARGUMENT_VALUE, /* a tensor or a symbolic number; ask for its type */
  INGOT_ARGUMENT_LIST,
  INGOT_ARGUMENT_INT,
  INGOT_ARGUMENT_FLOAT,
  INGOT_ARGUMENT_BOOL,
  INGOT_ARGUMENT_STRING,
  INGOT_ARGUMENT_DTYPE,
  INGOT_ARGUMENT_OTHER /* a device, a layout, a complex number, a sub-graph: as text */
} ingot_argument_kind;

/* An op to create. */
typedef struct ingot_op {
  const char *name;            /* "add" or "ingot.add"; the ops of arith work on symbolic numbers */
  const ingot_value *operands; /* in the op's order */
  size_t operand_count;
  const int32_t *groups; /* how many operands each of the op's operands is, for ops with optional ones; else NULL */
  size_t group_count;
  const char *attributes; /* as MLIR writes them: "{axis = 1, log = false}"; NULL for none */
  int32_t dtype;          /* element type of the result where the op leaves it open (cast, iota); else INGOT_NO_DTYPE */
  const ingot_type *result_types; /* NULL: from operands and attributes */
  size_t result_count;
} ingot_op;

typedef struct ingot_builder_api {
  int32_t version; /* INGOT_PLUGIN_VERSION */

  const char *(*last_error)(ingot_builder *builder);
  /* Says why the node cannot be lowered; returns INGOT_PLUGIN_FAILED. */
  int32_t (*fail)(ingot_builder *builder, const char *message);

  /* The node. */
  const char *(*node_target)(ingot_builder *builder); /* "acme::softclip", "aten::add.Tensor" */
  const char *(*node_name)(ingot_builder *builder);   /* of the exported node: "softclip_1" */
  const char *(*node_file)(ingot_builder *builder);   /* of the user's Python; empty when unknown */
  int64_t (*node_line)(ingot_builder *builder);
  /* The nodes whose sub-graphs it lies in, outermost first: "cond:1/while_loop:0"; empty at the top. */
  const char *(*node_path)(ingot_builder *builder);
  const char *(*node_function)(ingot_builder *builder); /* the entry point or body that the node is in */

  /* Its arguments in the order of the schema, defaults filled in. Null handles where there is none. */
  size_t (*argument_count)(ingot_builder *builder);
  const char *(*argument_name)(ingot_builder *builder, size_t index);
  ingot_argument (*argument_at)(ingot_builder *builder, size_t index);
  ingot_argument (*argument)(ingot_builder *builder, const char *name);
  ingot_argument_kind (*argument_kind)(ingot_builder *builder, ingot_argument argument);
  ingot_value (*argument_value)(ingot_builder *builder, ingot_argument argument);
  size_t (*list_size)(ingot_builder *builder, ingot_argument argument);
  ingot_argument (*list_item)(ingot_builder *builder, ingot_argument argument, size_t index);
  int64_t (*argument_int)(ingot_builder *builder, ingot_argument argument); /* of bools too */
  double (*argument_float)(ingot_builder *builder, ingot_argument argument);
  const char *(*argument_text)(ingot_builder *builder, ingot_argument argument); /* strings plain, the rest as MLIR */
  int32_t (*argument_dtype)(ingot_builder *builder, ingot_argument argument);

  /* Its results, as the program says they are. */
  size_t (*result_count)(ingot_builder *builder);
  ingot_type (*result_type)(ingot_builder *builder, size_t index);
  /* NULL for results that nobody uses. int32 for int64, and float32 for float64, are widened. */
  int32_t (*set_results)(ingot_builder *builder, const ingot_value *values, size_t count);

  /* Values. */
  ingot_type (*value_type)(ingot_builder *builder, ingot_value value);
  const char *(*value_type_text)(ingot_builder *builder, ingot_value value); /* "tensor<2x?xf32>" */

  /* Creates an op and writes its results to `results`, at most `capacity` of them. The op is verified. */
  int32_t (*create)(ingot_builder *builder, const ingot_op *op, ingot_value *results, size_t capacity, size_t *count);
  /* A tensor of known sizes from its elements in row-major order; bools take a byte each. */
  ingot_value (*constant)(ingot_builder *builder, const ingot_type *type, const void *data, size_t bytes);
  /* The elements of a value that is a constant, `*bytes` of them; null for other values. */
  const void *(*constant_data)(ingot_builder *builder, ingot_value value, size_t *bytes);
  /* Symbolic numbers that are known. */
  ingot_value (*int_number)(ingot_builder *builder, int64_t number);
  ingot_value (*float_number)(ingot_builder *builder, double number);
  ingot_value (*bool_number)(ingot_builder *builder, int32_t number);

  /* Bodies. After begin_body ops are created in the body, until end_body takes its results or drop_body gives it up;
   * `arguments` receives a value for each type. Bodies may be nested. Those of branches and loops may use values from
   * around them. Each body is used once. */
  int32_t (*begin_body)(ingot_builder *builder, const ingot_type *types, size_t count, ingot_value *arguments);
  ingot_body (*end_body)(ingot_builder *builder, const ingot_value *results, size_t count);
  void (*drop_body)(ingot_builder *builder);
  /* One of two bodies without arguments, by a boolean of one element. As create does, writes the results. */
  int32_t (*create_if)(ingot_builder *builder, ingot_value condition, ingot_body then, ingot_body otherwise,
                       ingot_value *results, size_t capacity, size_t *count);
  /* `body` as long as `test`, which gives one boolean. Both have the carried values as arguments, and `body` gives new
   * ones, as many as `results` receives. */
  int32_t (*create_while)(ingot_builder *builder, ingot_body test, ingot_body body, const ingot_value *carried,
                          size_t count, ingot_value *results);
  /* A private function; gives the name it gets, null if it fails. `composite_decl` says what the function is, for
   * compilers that know it: an MLIR dictionary, or NULL. */
  const char *(*define_function)(ingot_builder *builder, const char *name, const char *composite_decl, ingot_body body);
  int32_t (*call_function)(ingot_builder *builder, const char *name, const ingot_value *operands, size_t operand_count,
                           ingot_value *results, size_t capacity, size_t *count);
} ingot_builder_api;

typedef int32_t (*ingot_lower_fn)(const ingot_builder_api *api, ingot_builder *builder, void *user);

/* `target` is "namespace::name.overload"; without an overload it is the default one. */
typedef struct ingot_lowering {
  const char *target;
  ingot_lower_fn lower;
  void *user;
} ingot_lowering;

/* Rewrites a node of a graph document. `node` is its JSON text (docs/graph_format.md); the function calls `emit` with
 * `sink` and the text of every node that takes its place. Without any the node is dropped, and what used it uses its first
 * input. Returns INGOT_PLUGIN_OK, or INGOT_PLUGIN_FAILED to end the extraction. */
typedef int32_t (*ingot_convert_fn)(const char *node, void (*emit)(void *sink, const char *node), void *sink,
                                    void *user);

/* `pattern` is "aten.gelu.default" for that overload, or "aten.gelu" for all of them. */
typedef struct ingot_converter {
  const char *pattern;
  ingot_convert_fn convert;
  void *user;
} ingot_converter;

typedef struct ingot_registry ingot_registry;

typedef struct ingot_plugin_api {
  int32_t version; /* INGOT_PLUGIN_VERSION of the Ingot that loads; a plugin refuses others */
  ingot_registry *registry;
  /* The texts are copied. A later lowering of the same operator replaces the earlier one. */
  int32_t (*add_lowering)(ingot_registry *registry, const ingot_lowering *lowering);
  /* Says why the plugin cannot be used; returns INGOT_PLUGIN_FAILED. */
  int32_t (*fail)(ingot_registry *registry, const char *message);
  /* The same for converters of nodes. */
  int32_t (*add_converter)(ingot_registry *registry, const ingot_converter *converter);
} ingot_plugin_api;

/* What a plugin exports. */
typedef int32_t (*ingot_plugin_register_fn)(const ingot_plugin_api *api);

#ifdef __cplusplus
}
#endif
#endif /* INGOT_PLUGIN_H */
