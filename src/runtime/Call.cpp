// The states of a call from outside: the caller's arrays, checked, or memory of the program.
#include "runtime/ProgramImpl.h"
#include "runtime/TensorDesc.h"
#include "runtime/kernels/view/StridedCopy.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace ingot {
namespace {

template <typename Range, typename Name> std::string nameList(const Range &items, Name name) {
  std::string text;
  for (const auto &item : items)
    text += (text.empty() ? "`" : ", `") + std::string(name(item)) + "`";
  return text.empty() ? "none" : text;
}

/// The bytes that a tensor touches; empty if its sizes are impossible, which is found elsewhere.
std::pair<uintptr_t, uintptr_t> rangeOf(const TensorView &tensor) {
  std::optional<Extent> extent = checkedExtent(tensor.desc);
  if (!extent || !tensor.data)
    return {0, 0};
  const auto base = reinterpret_cast<uintptr_t>(tensor.data);
  const auto bytes = static_cast<int64_t>(byteSize(tensor.desc.dtype));
  return {base + static_cast<uintptr_t>(extent->begin * bytes), base + static_cast<uintptr_t>(extent->end * bytes)};
}

bool overlap(const TensorView &a, const TensorView &b) {
  const auto [aBegin, aEnd] = rangeOf(a);
  const auto [bBegin, bEnd] = rangeOf(b);
  return aBegin < bEnd && bBegin < aEnd;
}

/// Whether elements can be read where they lie. Parts of complex numbers are read one by one.
bool isAligned(const TensorView &tensor) {
  const DType dtype = tensor.desc.dtype;
  const size_t bytes = byteSize(dtype) / (dtype == DType::Complex64 || dtype == DType::Complex128 ? 2 : 1);
  return reinterpret_cast<uintptr_t>(tensor.data) % bytes == 0;
}

} // namespace

Result<const Call *> UserCall::prepare(std::span<const TensorView> plain, std::span<const NamedTensor> givenStates) {
  const Function &function = entry.function();
  call.states = &states;
  if (!std::ranges::all_of(plain, isAligned)) {
    INGOT_CHECK(alignInputs(plain));
    plain = aligned;
  }
  if (function.states.empty() && givenStates.empty()) {
    call.inputs = plain;
    return &call;
  }
  INGOT_CHECK(takeStates(givenStates));
  INGOT_CHECK(checkOverlaps());
  INGOT_CHECK(takeInputs(plain));
  call.memory.resize(function.states.size());
  for (size_t i = 0; i < call.memory.size(); ++i) {
    if (given[i]) {
      call.memory[i].data = static_cast<std::byte *>(given[i]->data);
      continue;
    }
    if (!lock) {
      INGOT_TRY(lock, states.lock());
    }
    call.memory[i] = {states.current(*entry.states[i]), entry.states[i]};
  }
  return &call;
}

/// Finds the states by name. Arguments are among them, the others may be.
Status UserCall::takeStates(std::span<const NamedTensor> givenStates) {
  const Function &function = entry.function();
  given.resize(function.states.size());
  for (const NamedTensor &named : givenStates) {
    auto it = std::ranges::find(function.states, named.name, &State::name);
    if (it == function.states.end()) {
      std::vector<std::string_view> known;
      for (const State &state : function.states)
        known.push_back(state.name);
      return usageError("`" + function.name + "` has no state `" + std::string(named.name) + "`" +
                        suggestion(named.name, known) + " (it has " + nameList(known, std::identity()) + ")");
    }
    const auto state = static_cast<size_t>(it - function.states.begin());
    if (given[state])
      return usageError("state `" + it->name + "` is given twice");
    INGOT_CHECK(checkState(state, named.tensor));
    given[state] = &named.tensor;
  }
  for (size_t i = 0; i < given.size(); ++i)
    if (!given[i] && function.states[i].isArgument())
      return usageError("`" + function.name + "` changes its argument `" + function.states[i].name +
                        "`: give it as a state of the call");
  return {};
}

Status UserCall::checkState(size_t state, const TensorView &tensor) const {
  const std::string prefix = "state `" + entry.function().states[state].name + "`: ";
  if (std::optional<size_t> slot = entry.states[state]) {
    const TensorDesc &desc = states.desc(*slot);
    if (tensor.desc.dtype != desc.dtype || tensor.desc.sizes != desc.sizes)
      return usageError(prefix + "expected " + describe(desc) + ", got " + describe(tensor.desc));
  }
  std::optional<Extent> extent = checkedExtent(tensor.desc);
  if (!extent)
    return usageError(prefix + "sizes " + shapeText(tensor.desc.sizes) + " and strides " +
                      shapeText(tensor.desc.strides) + " are impossible");
  if (!tensor.desc.isContiguous())
    return usageError(prefix + "the array is not contiguous: its strides are " + shapeText(tensor.desc.strides));
  if (!tensor.data && extent->end > 0)
    return usageError(prefix + "the data pointer is null");
  if (!isAligned(tensor))
    return usageError(prefix + "the address of the data is no multiple of the elements' size");
  return {};
}

/// Two states in one piece of memory would overwrite each other.
Status UserCall::checkOverlaps() const {
  const std::vector<State> &list = entry.function().states;
  for (size_t i = 0; i < given.size(); ++i)
    for (size_t j = 0; given[i] && j < i; ++j)
      if (given[j] && overlap(*given[i], *given[j]))
        return usageError("states `" + list[j].name + "` and `" + list[i].name + "` are given the same memory");
  return {};
}

/// Puts the arguments that are states between the other inputs.
Status UserCall::takeInputs(std::span<const TensorView> plain) {
  const Function &function = entry.function();
  std::vector<const Input *> own;
  size_t next = 0;
  for (const Input *input : givenInputs(function)) {
    auto state = std::ranges::find(function.states, input->value, &State::input);
    if (state != function.states.end()) {
      TensorView view = *given[static_cast<size_t>(state - function.states.begin())];
      // Strides of dimensions of size 1 may be anything; kernels need not care.
      view.desc = TensorDesc::contiguous(view.desc.dtype, view.desc.sizes);
      inputs.push_back(std::move(view));
    } else if (own.push_back(input); next < plain.size()) {
      inputs.push_back(plain[next++]);
      INGOT_CHECK(separate(*input, inputs.back()));
    }
  }
  if (own.size() != plain.size())
    return usageError("`" + function.name + "` takes " + std::to_string(own.size()) + " inputs (" +
                      nameList(own, [](const Input *input) { return input->name; }) + "), got " +
                      std::to_string(plain.size()));
  call.inputs = inputs;
  return {};
}

/// Inputs at odd addresses, such as those in a file that is mapped, are copied as they lie.
Status UserCall::alignInputs(std::span<const TensorView> plain) {
  aligned.assign(plain.begin(), plain.end());
  for (TensorView &input : aligned) {
    const std::optional<Extent> extent = checkedExtent(input.desc);
    if (isAligned(input) || !extent || extent->end <= extent->begin)
      continue; // what is impossible is found elsewhere
    const auto bytes = static_cast<int64_t>(byteSize(input.desc.dtype));
    INGOT_TRY(std::shared_ptr<std::byte> copy,
              allocateBlock(static_cast<size_t>((extent->end - extent->begin) * bytes)));
    std::memcpy(copy.get(), static_cast<const std::byte *>(input.data) + extent->begin * bytes,
                static_cast<size_t>((extent->end - extent->begin) * bytes));
    input.data = copy.get() - extent->begin * bytes;
    copies.push_back(std::move(copy));
  }
  return {};
}

/// An input that shares memory with a state keeps the value it has before the call.
Status UserCall::separate(const Input &about, TensorView &input) {
  auto shared = std::ranges::find_if(given, [&](const TensorView *state) { return state && overlap(*state, input); });
  if (shared == given.end())
    return {};
  const State &state = entry.function().states[static_cast<size_t>(shared - given.begin())];
  if (about.isReadLate && state.isArgument())
    return usageError("inputs `" + state.name + "` and `" + about.name + "` are given the same memory, and `" +
                      entry.function().name + "` reads `" + about.name + "` after it has changed `" + state.name +
                      "`: pass a copy of one");
  TensorDesc desc = TensorDesc::contiguous(input.desc.dtype, input.desc.sizes);
  INGOT_TRY(size_t bytes, checkedBytes(desc));
  INGOT_TRY(std::shared_ptr<std::byte> copy, allocateBlock(bytes));
  StridedCopy(desc.sizes, input.desc.strides, desc.strides, byteSize(desc.dtype)).run(input.data, copy.get());
  input = {copy.get(), std::move(desc)};
  copies.push_back(std::move(copy));
  return {};
}

} // namespace ingot
