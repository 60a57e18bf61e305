// Checking a caller's tensors against what an entry point takes.
#pragma once

#include "runtime/Kernel.h"
#include "runtime/Plan.h"

#include <span>
#include <string_view>
#include <vector>

namespace ingot {

/// A tensor in the caller's memory.
struct TensorView {
  void *data = nullptr;
  TensorDesc desc;
};

struct NamedTensor {
  std::string_view name;
  TensorView tensor;
};

/// The function's inputs that the caller gives: those that are no literals, in order.
std::vector<const Input *> givenInputs(const Function &function);

/// Number, dtypes, ranks, static sizes, equal symbols and their ranges. The message names input and dimension.
Status checkInputs(const Function &function, std::span<const TensorView> inputs);

/// Tensors given by name, in the order of givenInputs. Says which are missing or unknown.
Result<std::vector<TensorView>> orderInputs(const Function &function, std::span<const NamedTensor> inputs);

/// "; did you mean `foo`?" for the nearest name, or nothing if none is near.
std::string suggestion(std::string_view name, std::span<const std::string_view> known);

} // namespace ingot
