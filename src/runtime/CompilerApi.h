// The seam between the runtime and the compiler: libingot_compiler.so, which knows MLIR and LLVM, exports
// ingot_compiler_api(). The runtime loads it from its own folder when something has to be compiled.
#pragma once

#include "base/Result.h"
#include "ingot/plugin.h"
#include "runtime/AuthorApi.h"

#include <cstddef>
#include <cstdint>

namespace ingot {

/// Raised with every change of the structs below. 1: first. 2: lowerings of the caller, programs written by hand.
/// 3: graph documents of programs.
inline constexpr int32_t kCompilerApiVersion = 3;

struct CompilerError {
  int32_t kind = 0;        ///< ErrorKind
  char *message = nullptr; ///< released with CompilerApi::freeMessage
};

/// A weight in the caller's memory, for programs that were never written to a file.
struct CompilerWeight {
  const char *name;
  bool isConstant;  ///< a constant of the program, no member of the module
  bool isParameter; ///< trained; else a buffer
  int32_t dtype;    ///< DType
  const int64_t *sizes;
  const int64_t *strides; ///< in elements
  size_t rank;
  int64_t storageOffset; ///< in elements
  const void *storage;   ///< tied weights have the same one
  size_t storageBytes;
};

/// An exported program in the caller's memory. `roleJson` says what it becomes: {"entry": name, "input_names",
/// "output_names", "state_names", "placeholder_names": bool}, or {"body_of": op, "symbol", "weight_prefix", "declaration",
/// "metal_kernel"}.
struct CompilerPart {
  const char *programJson;
  size_t programBytes;
  const CompilerWeight *weights;
  size_t weightCount;
  const char *roleJson;
};

/// A converted program that was not saved. Its weights lie where the caller, or the asset it was opened from, has them.
struct CompilerProgram;

/// Texts are released with CompilerApi::freeMessage.
struct CompilerProgramApi {
  bool (*convert)(const CompilerPart *parts, size_t count, const ingot_lowering *lowerings, size_t loweringCount,
                  const char *optionsJson, CompilerProgram **program, CompilerError *error);
  bool (*open)(const char *assetPath, CompilerProgram **program, CompilerError *error);
  /// The IR, or that of one function where `function` is not empty.
  bool (*text)(const CompilerProgram *program, const char *function, bool withLocations, char **text,
               CompilerError *error);
  /// The graph as a document (docs/graph_format.md).
  bool (*document)(const CompilerProgram *program, char **text, CompilerError *error);
  /// The asset's manifest as it would be saved.
  bool (*manifest)(const CompilerProgram *program, char **text, CompilerError *error);
  /// Forgets where operations come from: lines of Python, modules, and names of nodes.
  bool (*stripLocations)(CompilerProgram *program, CompilerError *error);
  /// `metadataJson`: an object of strings.
  bool (*save)(const CompilerProgram *program, const char *assetPath, bool overwrite, const char *metadataJson,
               CompilerError *error);
  void (*free)(CompilerProgram *program);
};

/// Functions return false and fill `error` when they fail. They may be called from any thread.
struct CompilerApi {
  int32_t version;
  /// Whether nodes of this operator ("aten::relu.default") have a lowering, or are made into some that have.
  bool (*hasLowering)(const char *target);
  bool (*convert)(const char *pt2Path, const char *assetPath, bool overwrite, const char *optionsJson,
                  CompilerError *error);
  /// Makes the asset's cache entry for `cpuKey`, which must be this machine's.
  bool (*specialise)(const char *assetPath, const char *cpuKey, const char *optionsJson, CompilerError *error);
  void (*freeMessage)(char *message);
  const CompilerProgramApi *programs;
  const AuthorApi *author;
};

/// The compiler, loaded at the first call. Unsupported, with what to do, where only the runtime is installed.
Result<const CompilerApi *> compilerApi();

/// Turns a failed call into an Error and releases its message.
Error compilerFailure(const CompilerApi &api, CompilerError &error);

} // namespace ingot

extern "C" const ingot::CompilerApi *ingot_compiler_api();
