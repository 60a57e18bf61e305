#include "verify/Runner.h"

#include "asset/Reader.h"
#include "base/ScratchFolder.h"
#include "ingot/ingot.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace ingot::verify {

namespace {

static_assert(static_cast<int>(ErrorKind::Usage) + 1 == INGOT_ERROR_USAGE);
static_assert(static_cast<int>(ErrorKind::Internal) + 1 == INGOT_ERROR_INTERNAL);

Status checked(ingot_status status) {
  if (status == INGOT_OK)
    return {};
  return Error(static_cast<ErrorKind>(status - 1), ingot_last_error());
}

using ProgramHandle = std::unique_ptr<ingot_program, decltype(&ingot_program_free)>;

Result<const Value *> findInput(const asset::Port &port, const Values &inputs, const Values &more) {
  static constexpr std::string_view prefix = "in:";
  std::string_view name = port.name;
  if (name.starts_with(prefix))
    name.remove_prefix(prefix.size());
  for (const Values *values : {&more, &inputs})
    if (auto it = values->find(name); it != values->end())
      return &it->second;
  return usageError("input '" + std::string(name) + "' is missing");
}

Value copyOf(const Value &value) {
  auto memory = std::make_shared<std::vector<std::byte>>(value.data.begin(), value.data.end());
  return {value.dtype, value.shape, *memory, memory};
}

ingot_tensor viewOf(const Value &value) {
  // The interface has no const because outputs share the struct; inputs are only read.
  return {const_cast<std::byte *>(value.data.data()), static_cast<ingot_dtype>(value.dtype),
          static_cast<int32_t>(value.shape.size()), value.shape.data(), nullptr};
}

/// A call's tensors: what the program changes lies in copies.
struct CallArguments {
  std::vector<Value> copies;
  std::vector<ingot_tensor> inputs;
  std::vector<ingot_state> states;

  Status gather(const asset::EntryPoint &entry, const Values &given, const Values &more) {
    copies.reserve(entry.inputs.size()); // views point into them
    for (const asset::Port &port : entry.inputs) {
      if (!port.literal.empty())
        continue;
      INGOT_TRY(const Value *value, findInput(port, given, more));
      if (port.state.empty()) {
        inputs.push_back(viewOf(*value));
        continue;
      }
      copies.push_back(copyOf(*value));
      states.push_back({port.state.c_str(), viewOf(copies.back())});
    }
    return {};
  }
};

void copyStrided(const ingot_tensor &tensor, int32_t dim, const std::byte *from, std::byte *&to, size_t element) {
  if (dim == tensor.rank) {
    std::memcpy(to, from, element);
    to += element;
    return;
  }
  for (int64_t i = 0; i < tensor.sizes[dim]; ++i)
    copyStrided(tensor, dim + 1, from + i * tensor.strides[dim] * static_cast<int64_t>(element), to, element);
}

Value valueOf(const ingot_tensor &tensor, const std::shared_ptr<ingot_result> &owner) {
  Value value;
  value.dtype = static_cast<DType>(tensor.dtype);
  value.shape.assign(tensor.sizes, tensor.sizes + tensor.rank);
  size_t element = byteSize(value.dtype), count = 1;
  int64_t stride = 1;
  bool isContiguous = true;
  for (int32_t i = tensor.rank; i-- > 0; stride *= tensor.sizes[i]) {
    count *= static_cast<size_t>(tensor.sizes[i]);
    isContiguous &= !tensor.strides || tensor.sizes[i] == 1 || tensor.strides[i] == stride;
  }
  if (isContiguous || count == 0) {
    value.data = {static_cast<const std::byte *>(tensor.data), count * element};
    value.memory = owner;
    return value;
  }
  auto memory = std::make_shared<std::vector<std::byte>>(count * element);
  std::byte *to = memory->data();
  copyStrided(tensor, 0, static_cast<const std::byte *>(tensor.data), to, element);
  value.data = *memory;
  value.memory = memory;
  return value;
}

std::vector<std::string> uniqueKeys(const std::vector<pt2::Tap> &taps) {
  std::vector<std::string> keys;
  std::set<std::string> seen;
  for (const pt2::Tap &tap : taps)
    if (seen.insert(tap.key()).second)
      keys.push_back(tap.key());
  return keys;
}

/// The taps are the last outputs, in order.
Result<Values> collect(const asset::EntryPoint &entry, const std::vector<std::string> &keys,
                       const std::shared_ptr<ingot_result> &result) {
  size_t count = ingot_result_count(result.get());
  if (keys.size() > entry.outputs.size() || keys.size() > count)
    return internalError("the program does not show what it was asked for");
  Values values;
  for (size_t i = 0; i < keys.size(); ++i)
    values[keys[i]] = valueOf(*ingot_result_tensor(result.get(), count - keys.size() + i), result);
  return values;
}

} // namespace

Runner Runner::inside(const pt2::Enter &enter, Values values) const {
  Runner inner(convert, std::move(values));
  inner.entered = entered;
  inner.entered.push_back(enter);
  return inner;
}

Result<Values> Runner::run(pt2::Rewrite rewrite, Side side, const Values &more) {
  ++count;
  rewrite.enter = entered;
  INGOT_TRY(ScratchFolder folder, ScratchFolder::make());
  std::string path = folder.file("program.ingot");
  nlohmann::json options = {{"rewrite", pt2::rewriteToJson(rewrite)}, {"by_torch", side == Side::Torch}};
  INGOT_CHECK(convert(path, options));
  INGOT_TRY(asset::CheckedManifest manifest, asset::readManifest(path));
  if (manifest.manifest.entryPoints.empty())
    return internalError("the program has no entry point");
  const asset::EntryPoint &entry = manifest.manifest.entryPoints.front();
  CallArguments arguments;
  INGOT_CHECK(arguments.gather(entry, inputs, more));
  ingot_program *loaded = nullptr;
  INGOT_CHECK(
      checked(ingot_program_load_with(path.c_str(), R"({"fallback": true, "keep_constants": false})", &loaded)));
  ProgramHandle program(loaded, ingot_program_free);
  ingot_result *made = nullptr;
  INGOT_CHECK(checked(ingot_program_run_with_states(loaded, entry.name.c_str(), arguments.inputs.data(),
                                                    arguments.inputs.size(), arguments.states.data(),
                                                    arguments.states.size(), &made)));
  return collect(entry, uniqueKeys(rewrite.taps), std::shared_ptr<ingot_result>(made, ingot_result_free));
}

} // namespace ingot::verify
