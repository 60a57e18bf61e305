/* Ingot's C interface: convert exported PyTorch programs, load assets, run them.
 *
 * Link with libingot_runtime.so. Loading and running an asset that has been specialised for this CPU
 * needs nothing else; converting and specialising use libingot_compiler.so, looked for in the folder
 * of libingot_runtime.so.
 *
 * Every function that can fail returns an ingot_status and never aborts; ingot_last_error() then holds
 * the message for the calling thread. Handles are released with their *_free function (NULL is fine).
 * One ingot_program may be run from several threads at once. */
#ifndef INGOT_INGOT_H
#define INGOT_INGOT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define INGOT_API __attribute__((visibility("default")))

typedef enum ingot_status {
  INGOT_OK = 0,
  INGOT_ERROR_USAGE = 1,       /* wrong name, shape, dtype, argument */
  INGOT_ERROR_CORRUPT = 2,     /* a file is truncated, damaged or foreign */
  INGOT_ERROR_UNSUPPORTED = 3, /* valid, but Ingot cannot handle it */
  INGOT_ERROR_IO = 4,          /* the operating system refused */
  INGOT_ERROR_INTERNAL = 5,    /* a bug of Ingot */
  INGOT_ERROR_CANCELLED = 6    /* the call was ended by ingot_program_cancel or ingot_session_cancel */
} ingot_status;

/* Element types, numbered as in the list of ingot_dtype_name(). */
typedef enum ingot_dtype {
  INGOT_BOOL,
  INGOT_UINT8,
  INGOT_INT8,
  INGOT_INT16,
  INGOT_INT32,
  INGOT_INT64,
  INGOT_UINT16,
  INGOT_UINT32,
  INGOT_UINT64,
  INGOT_FLOAT16,
  INGOT_BFLOAT16,
  INGOT_FLOAT32,
  INGOT_FLOAT64,
  INGOT_FLOAT8_E4M3FN,
  INGOT_FLOAT8_E5M2,
  INGOT_FLOAT8_E4M3FNUZ,
  INGOT_FLOAT8_E5M2FNUZ,
  INGOT_FLOAT8_E8M0FNU,
  INGOT_COMPLEX32,
  INGOT_COMPLEX64,
  INGOT_COMPLEX128
} ingot_dtype;

/* A tensor in the caller's memory. `strides` (in elements) may be NULL for contiguous data. */
typedef struct ingot_tensor {
  void *data;
  ingot_dtype dtype;
  int32_t rank;
  const int64_t *sizes;
  const int64_t *strides;
} ingot_tensor;

/* A state by its name: memory that a call reads and changes. Contiguous; `name` ends with a zero byte. */
typedef struct ingot_state {
  const char *name;
  ingot_tensor tensor;
} ingot_state;

typedef struct ingot_program ingot_program; /* a loaded asset */
typedef struct ingot_session ingot_session; /* states of one user of a program */
typedef struct ingot_result ingot_result;   /* the outputs of one call */

INGOT_API const char *ingot_version(void);
INGOT_API const char *ingot_last_error(void);
INGOT_API const char *ingot_dtype_name(ingot_dtype dtype);
INGOT_API size_t ingot_dtype_size(ingot_dtype dtype);

/* Number of threads one call may use; 0 means all cores. INGOT_NUM_THREADS sets the initial value. */
INGOT_API void ingot_set_num_threads(int32_t count);
INGOT_API int32_t ingot_get_num_threads(void);

/* `check` is asked about every 100 ms by calls that take longer, on the thread that called: anything but 0 ends that call
 * with INGOT_ERROR_CANCELLED. For languages that only note signals (Ctrl-C) while C runs. NULL: none. */
INGOT_API void ingot_set_interrupt_check(int32_t (*check)(void));

/* Random operators draw from one generator of the process. After the same seed, the same calls draw the same numbers,
 * whatever the number of threads. Without a seed it starts from a fixed one. */
INGOT_API void ingot_set_seed(uint64_t seed);

/* Converts `pt2_path` and saves the asset at `asset_path`. Refuses to replace an existing one unless
 * `overwrite` is non-zero. `options_json` may be NULL; keys: specialise, stop_after, dump_ir, disable_passes, time_passes,
 * fallback, composites (norms, attention and others as functions with declarations), keep_paths, schemas, plugins (paths
 * of libraries with lowerings, see ingot/plugin.h). */
INGOT_API ingot_status ingot_convert(const char *pt2_path, const char *asset_path, int32_t overwrite,
                                     const char *options_json);

/* Loads an asset, specialising it for this CPU first if that has not happened yet. */
INGOT_API ingot_status ingot_program_load(const char *asset_path, ingot_program **program);

/* The same with options, which may be NULL; keys: fallback (true lets an asset that was converted with fallback run
 * operators with PyTorch, through libingot_fallback.so; without it such an asset is refused), disable_passes (names of
 * passes to leave out when the asset is specialised), memory_limit (bytes for weights, states, and the intermediate
 * values and outputs of one call: what would need more is refused before it starts, with the figure; 0 for none),
 * time_limit (seconds that a call may take: one that takes longer fails after the step that it is at; 0 for none),
 * matmul_precision ("highest", which is the default; "medium" lets products and convolutions of float32 round their
 * operands to bfloat16, on CPUs that multiply that faster; sums stay in float32; "int8" lets those by constant weights
 * round them to integers of 8 bits instead, each row, image and filter with a scale of its own), keep_constants (true,
 * which is the default, keeps weights in the order that kernels want, and constants computed from them, in the asset's
 * cache, which takes about as much disk as the weights: later loads are faster, and processes share that memory), method
 * ("usual", "panels", "winograd" or "onednn" for every product and convolution that can be computed so, to compare
 * them; without it what `ingot tune` has measured on this kind of CPU is used, and the usual method elsewhere). */
INGOT_API ingot_status ingot_program_load_with(const char *asset_path, const char *options_json,
                                               ingot_program **program);
INGOT_API void ingot_program_free(ingot_program *program);

/* Entry points, inputs, outputs and states as JSON text; valid as long as the program. */
INGOT_API const char *ingot_program_describe(const ingot_program *program);

/* Runs entry point `entry` (NULL: the only one) on inputs in the order of its description, without those that are
 * literals or have "state". States keep their new values in the program until the next call. */
INGOT_API ingot_status ingot_program_run(ingot_program *program, const char *entry, const ingot_tensor *inputs,
                                         size_t input_count, ingot_result **result);

/* The same with states in the caller's memory, which the call reads and changes in place, whatever their number. States
 * that are not given are the program's own; an argument that the program changes (an input with "state") must be given.
 * No two may share memory. */
INGOT_API ingot_status ingot_program_run_with_states(ingot_program *program, const char *entry,
                                                     const ingot_tensor *inputs, size_t input_count,
                                                     const ingot_state *states, size_t state_count,
                                                     ingot_result **result);

/* The program's own states: a copy of one as the only tensor of `result`, a new value (of any strides) for one, and the
 * initial values for all. */
INGOT_API ingot_status ingot_program_read_state(ingot_program *program, const char *name, ingot_result **result);
INGOT_API ingot_status ingot_program_write_state(ingot_program *program, const char *name, const ingot_tensor *value);
INGOT_API ingot_status ingot_program_reset_states(ingot_program *program);

/* Ends the calls that run with the program's own states, from another thread: they fail with INGOT_ERROR_CANCELLED after
 * the step that they are at. Later calls are not affected. States that the call changes in place may be half changed. */
INGOT_API ingot_status ingot_program_cancel(ingot_program *program);

/* A session has states of its own over the same weights and plan, so that several users can run one program at once. It
 * starts with the initial values, and keeps the program alive. */
INGOT_API ingot_status ingot_session_create(ingot_program *program, ingot_session **session);
INGOT_API void ingot_session_free(ingot_session *session);
INGOT_API ingot_status ingot_session_run(ingot_session *session, const char *entry, const ingot_tensor *inputs,
                                         size_t input_count, const ingot_state *states, size_t state_count,
                                         ingot_result **result);
INGOT_API ingot_status ingot_session_read_state(ingot_session *session, const char *name, ingot_result **result);
INGOT_API ingot_status ingot_session_write_state(ingot_session *session, const char *name, const ingot_tensor *value);
INGOT_API ingot_status ingot_session_reset_states(ingot_session *session);
INGOT_API ingot_status ingot_session_cancel(ingot_session *session); /* as ingot_program_cancel */

/* Bytes that calls have moved from one place to another without computing anything, since the process started: a call
 * that changes a state in place adds what it writes, not the size of the state. */
INGOT_API uint64_t ingot_copied_bytes(void);

/* Output i; its memory belongs to the result. */
INGOT_API size_t ingot_result_count(const ingot_result *result);
INGOT_API const ingot_tensor *ingot_result_tensor(const ingot_result *result, size_t index);
INGOT_API void ingot_result_free(ingot_result *result);

#ifdef __cplusplus
}
#endif
#endif /* INGOT_INGOT_H */
