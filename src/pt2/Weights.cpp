#include "base/Bytes.h"
#include "pt2/ProgramReader.h"

using namespace ingot;
using namespace ingot::pt2;

namespace {

bool hasNegative(const std::vector<int64_t> &numbers) {
  for (int64_t number : numbers)
    if (number < 0)
      return true;
  return false;
}

} // namespace

std::optional<int64_t> Weight::end() const {
  int64_t last = storageOffset;
  for (size_t d = 0; d < sizes.size(); ++d) {
    std::optional<int64_t> reach = checkedMul(sizes[d] - 1, strides[d]);
    std::optional<int64_t> sum = reach ? checkedAdd(last, *reach) : std::nullopt;
    if (!sum)
      return std::nullopt;
    last = *sum;
  }
  return checkedAdd<int64_t>(last, 1);
}

bool Weight::overlaps(const Weight &other) const {
  if (storage.data() != other.storage.data() || elementCount() == 0 || other.elementCount() == 0)
    return false;
  auto endOf = [](const Weight &weight) { return weight.storage.data() + *weight.end() * byteSize(weight.dtype); };
  return data() < endOf(other) && other.data() < endOf(*this);
}

int64_t Weight::elementCount() const { return checkedElementCount(sizes).value_or(0); }

bool Weight::isContiguous() const {
  int64_t expected = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] == 0)
      return true;
    if (sizes[d] != 1 && strides[d] != expected)
      return false;
    expected *= sizes[d];
  }
  return true;
}

const Weight *Program::findWeight(const InputSpec &input) const {
  const NameMap<Weight> *table = nullptr;
  if (input.kind == InputKind::Parameter || (input.kind == InputKind::Buffer && input.persistent))
    table = &weights;
  else if (input.kind == InputKind::Buffer || input.kind == InputKind::TensorConstant ||
           input.kind == InputKind::CustomObj)
    table = &constants;
  else
    return nullptr;
  auto found = table->find(input.target);
  return found == table->end() ? nullptr : &found->second;
}

Status pt2::checkView(const std::string &name, const Weight &weight) {
  auto bad = [&](std::string_view why) { return corruptError("weight '" + name + "' " + std::string(why)); };
  if (weight.sizes.size() != weight.strides.size() || hasNegative(weight.sizes) || hasNegative(weight.strides) ||
      weight.storageOffset < 0)
    return bad("has impossible sizes, strides or offset");
  int64_t elementSize = static_cast<int64_t>(byteSize(weight.dtype));
  std::optional<int64_t> count = checkedElementCount(weight.sizes);
  if (!count || !checkedMul(*count, elementSize))
    return bad("has more elements than can be counted");
  if (weight.storage.size() % byteSize(weight.dtype) != 0)
    return bad("does not consist of whole elements");
  int64_t available = static_cast<int64_t>(weight.storage.size()) / elementSize;
  if (*count == 0) {
    // data() must be a valid address even where nothing is read.
    if (weight.storageOffset > available)
      return bad("starts outside its storage");
    return {};
  }
  if (weight.storage.empty())
    return unsupportedError("weight '" + name +
                            "' was saved without data (a fake or meta tensor); load the model's "
                            "real weights before exporting it");
  std::optional<int64_t> end = weight.end();
  if (!end || *end > available)
    return bad("reaches outside its storage of " + std::to_string(weight.storage.size()) + " bytes");
  return {};
}

Status pt2::checkWeightsPresent(const Program &program) {
  for (const InputSpec &input : program.signature.inputs) {
    bool isTensor = input.kind == InputKind::Parameter || input.kind == InputKind::Buffer ||
                    input.kind == InputKind::TensorConstant;
    if (!isTensor)
      continue;
    const Weight *weight = program.findWeight(input);
    if (!weight)
      return corruptError("the program needs '" + input.target + "', which the file lacks");
    if (weight->kind != PayloadKind::Tensor)
      return unsupportedError("'" + input.target +
                              "' is a tensor subclass stored as a Python pickle; replace it by a "
                              "plain tensor before exporting");
    const TensorMeta *meta = program.graph.findTensor(input.value.asTensor());
    if (!meta || meta->dtype != weight->dtype || meta->sizes.size() != weight->sizes.size())
      return corruptError("'" + input.target + "' differs in type or rank from the graph's input");
    for (size_t d = 0; d < meta->sizes.size(); ++d)
      if (meta->sizes[d].isConcrete() && meta->sizes[d].concrete() != weight->sizes[d])
        return corruptError("'" + input.target + "' differs in shape from the graph's input");
  }
  return {};
}
