#include "Inputs.h"

#include "base/Bytes.h"
#include "base/Npy.h"
#include "base/SafeTensors.h"

#include <algorithm>
#include <charconv>

using namespace ingot;
using namespace ingot::cli;

namespace {

using TensorMap = std::map<std::string, Tensor>;

struct Assignment {
  std::string name, value;
};

Result<Assignment> splitAssignment(const std::string &text, const char *flag, const char *form) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return usageError(std::string(flag) + " '" + text + "' should have the form " + form);
  return Assignment{text.substr(0, equals), text.substr(equals + 1)};
}

Status addGiven(TensorMap &given, const std::string &name, Tensor tensor) {
  if (!given.emplace(name, std::move(tensor)).second)
    return usageError("input '" + name + "' is given twice");
  return {};
}

Result<TensorMap> readGiven(const InputSources &sources) {
  TensorMap given;
  if (!sources.safetensors.empty()) {
    INGOT_TRY(SafeTensors file, readSafeTensors(sources.safetensors));
    for (const SafeTensor &tensor : file.tensors)
      INGOT_CHECK(addGiven(given, tensor.name, {tensor.dtype, tensor.shape, tensor.data, file.memory}));
  }
  for (const std::string &text : sources.npy) {
    INGOT_TRY(Assignment assignment, splitAssignment(text, "--input", "NAME=FILE.npy"));
    INGOT_TRY(NpyArray array, readNpy(assignment.value));
    auto memory = std::make_shared<NpyArray>(std::move(array));
    INGOT_CHECK(addGiven(given, assignment.name, {memory->dtype, memory->shape, memory->data, memory}));
  }
  return given;
}

std::optional<int64_t> parseNumber(std::string_view text) {
  int64_t number = 0;
  auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

using Sizes = std::map<std::string, int64_t>;

} // namespace

Result<Sizes> cli::chooseSizes(const asset::EntryPoint &entry, const InputSources &sources) {
  Sizes sizes;
  for (const asset::Symbol &symbol : entry.symbols)
    sizes[symbol.name] = std::clamp<int64_t>(2, symbol.min, symbol.max);
  for (const std::string &text : sources.dimensions) {
    INGOT_TRY(Assignment assignment, splitAssignment(text, "--dim", "SYMBOL=SIZE"));
    std::optional<int64_t> size = parseNumber(assignment.value);
    if (!size || *size < 0)
      return usageError("--dim '" + text + "' should have the form SYMBOL=SIZE");
    if (!sizes.contains(assignment.name))
      return usageError("there is no symbol '" + assignment.name + "' in entry point '" + entry.name + "'");
    sizes[assignment.name] = *size;
  }
  return sizes;
}

namespace {

/// A damaged file may claim any size; nobody wants so many random numbers.
constexpr int64_t kMostRandomBytes = int64_t(1) << 30;

Result<Tensor> randomInput(const asset::Port &input, const Sizes &sizes, std::mt19937_64 &random) {
  std::vector<int64_t> shape;
  for (const std::string &dim : input.shape) {
    std::optional<int64_t> number = parseNumber(dim);
    if (auto found = sizes.find(dim); !number && found != sizes.end())
      number = found->second;
    if (!number)
      return usageError("input '" + input.name + "' has the size '" + dim + "'; random inputs need plain symbols")
          .note("give this input with --input " + input.name + "=FILE.npy");
    shape.push_back(*number);
  }
  std::optional<int64_t> count = checkedElementCount(shape);
  if (!count || *count > kMostRandomBytes / static_cast<int64_t>(byteSize(input.dtype)))
    return usageError("input '" + input.name + "' is too large for random numbers")
        .note("give this input with --input " + input.name + "=FILE.npy");
  return randomTensor(input.dtype, std::move(shape), random);
}

std::string nameList(const asset::EntryPoint &entry) {
  std::string names;
  for (const asset::Port &input : entry.inputs)
    if (input.literal.empty())
      names += (names.empty() ? "" : ", ") + input.name;
  return names.empty() ? "no inputs" : names;
}

} // namespace

Result<std::vector<Tensor>> cli::gatherInputs(const asset::EntryPoint &entry, const InputSources &sources) {
  INGOT_TRY(TensorMap given, readGiven(sources));
  INGOT_TRY(Sizes sizes, chooseSizes(entry, sources));
  std::mt19937_64 random(sources.randomSeed.value_or(0));
  std::vector<Tensor> inputs;
  std::vector<std::string> problems;
  for (const asset::Port &input : entry.inputs) {
    if (!input.literal.empty())
      continue;
    if (auto found = given.find(input.name); found != given.end()) {
      inputs.push_back(std::move(found->second));
      given.erase(found);
    } else if (sources.randomSeed) {
      INGOT_TRY(Tensor tensor, randomInput(input, sizes, random));
      inputs.push_back(std::move(tensor));
    } else {
      problems.push_back("input '" + input.name + "' is missing");
    }
  }
  for (const auto &[name, tensor] : given)
    problems.push_back("there is no input '" + name + "'");
  if (problems.empty())
    return inputs;
  Error error = usageError(problems.front());
  error.notes.assign(problems.begin() + 1, problems.end());
  return std::move(error).note("entry point '" + entry.name + "' takes: " + nameList(entry));
}
