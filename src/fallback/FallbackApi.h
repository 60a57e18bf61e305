// The seam between the runtime and PyTorch: libingot_fallback.so, which links libtorch, exports
// ingot_fallback_api(). The runtime loads it when a program that was converted with fallback is loaded.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ingot {

/// Raised with every change of the structs below. 1: first.
inline constexpr int32_t kFallbackApiVersion = 1;

/// Names another file than libingot_fallback.so beside libingot_runtime.so.
inline constexpr const char *kFallbackLibraryVariable = "INGOT_FALLBACK_LIBRARY";
/// Shared libraries with custom operators, separated by colons, that are loaded after libtorch.
inline constexpr const char *kOperatorLibrariesVariable = "INGOT_OPERATOR_LIBRARIES";

enum class FallbackKind : int32_t { None, Tensor, Int, Float, Bool };

/// An operand or a result. Which members count depends on `kind`.
struct FallbackValue {
  FallbackKind kind = FallbackKind::None;
  int32_t dtype = 0; ///< DType
  void *data = nullptr;
  const int64_t *sizes = nullptr;
  const int64_t *strides = nullptr; ///< in elements
  size_t rank = 0;
  int64_t integer = 0; ///< Int and Bool
  double number = 0;   ///< Float
};

/// One call of an operator. Texts are JSON; the caller keeps everything alive during the call.
struct FallbackCall {
  const char *target;    ///< "aten::add.Tensor"
  const char *arguments; ///< by schema name; src/passes/plan/CarrierStep.h is the specification
  const char *returns;   ///< which returns are results: a list of numbers, lists of them, and null; may be empty
  const char *writes;    ///< list of arguments whose new content follows the returns as further results; may be empty
  int64_t into;          ///< copy the last operand into this one of the returns, which is a view; -1: do not
  const FallbackValue *operands;
  size_t operandCount;
};

/// The results of one call and what they lie in.
struct FallbackResults;

struct FallbackError {
  int32_t kind = 0;        ///< ErrorKind
  char *message = nullptr; ///< released with FallbackApi::freeMessage
};

/// Functions return false and fill `error` when they fail. They may be called from any thread.
struct FallbackApi {
  int32_t version;
  const char *torchVersion;
  /// Whether PyTorch has the operator now.
  bool (*find)(const char *target, FallbackError *error);
  /// Never writes to operands. Tensors of the results are contiguous and share no memory.
  bool (*run)(const FallbackCall *call, FallbackResults **results, FallbackError *error);
  size_t (*resultCount)(const FallbackResults *results);
  /// Valid as long as the results.
  const FallbackValue *(*result)(const FallbackResults *results, size_t index);
  void (*freeResults)(FallbackResults *results);
  void (*freeMessage)(char *message);
};

} // namespace ingot

extern "C" const ingot::FallbackApi *ingot_fallback_api();
