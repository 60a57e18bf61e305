// What an operator gave, as the runtime takes it. Private to this folder.
#pragma once

#include "base/Json.h"
#include "fallback/FallbackApi.h"

#include <ATen/core/ivalue.h>

#include <span>
#include <vector>

namespace ingot {

/// The tensors own the memory that the values point to.
struct FallbackResults {
  std::vector<at::Tensor> tensors;
  std::vector<FallbackValue> values;
};

namespace fallback {

/// Collects results. Tensors become contiguous and get memory of their own where they share it.
class ResultWriter {
public:
  /// All returns of the operator, by the layout that the exported program has for them; null: in order, lists opened.
  Status addReturns(std::vector<c10::IValue> returns, const nlohmann::json &layout);
  /// The new content of a written argument: a tensor or a list of them.
  Status addWritten(const c10::IValue &argument);
  /// To be called when nothing else holds tensors of the call any more.
  FallbackResults *finish(std::span<const FallbackValue> operands);

private:
  Status addOne(const c10::IValue &value);
  Status addLaidOut(const c10::IValue &value, const nlohmann::json &place);
  Status addTensor(const at::Tensor &tensor);

  FallbackResults results;
};

} // namespace fallback
} // namespace ingot
