// libFuzzer: any text may be a plan of the cache; one that is accepted is prepared and called.
#include "FuzzRun.h"
#include "base/test/FuzzMutators.h"
#include "runtime/PlanJson.h"

using namespace ingot;

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  return fuzz::mutateDocument(data, size, maxSize, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  Result<Plan> plan = planFromJson({reinterpret_cast<const char *>(data), size});
  if (!plan)
    return 0;
  (void)planFromJson(planToJson(*plan));
  ProgramSource source;
  source.plan = *std::move(plan);
  source.memoryLimit = 64 << 20;
  // Every weight that is asked for is there, as zeros, if it is small.
  static const std::vector<std::byte> zeros(1 << 20);
  std::map<std::string, std::pair<DType, std::vector<int64_t>>, std::less<>> shapes;
  for (const Function &function : source.plan.functions)
    for (const Constant &constant : function.constants) {
      const Value &value = function.values[static_cast<size_t>(constant.value)];
      shapes[constant.weight] = {value.dtype, value.shape};
    }
  source.findWeight = [&](std::string_view key) -> std::optional<WeightView> {
    auto found = shapes.find(key);
    if (found == shapes.end())
      return std::nullopt;
    auto [dtype, shape] = found->second;
    std::optional<int64_t> count = checkedElementCount(shape);
    if (!count || *count > static_cast<int64_t>(zeros.size() / byteSize(dtype)))
      return std::nullopt;
    return WeightView{dtype, shape, std::span(zeros).first(static_cast<size_t>(*count) * byteSize(dtype))};
  };
  Result<std::shared_ptr<Program>> program = Program::create(std::move(source));
  if (program)
    fuzz::runProgram(**program);
  return 0;
}
