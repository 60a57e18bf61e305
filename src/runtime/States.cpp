#include "runtime/States.h"

#include "runtime/MemoryPool.h"
#include "runtime/TensorDesc.h"
#include "runtime/kernels/view/StridedCopy.h"

#include <algorithm>
#include <cstring>

namespace ingot {

Result<std::shared_ptr<std::byte>> allocateBlock(size_t bytes) {
  // Long-lived blocks come from a pool of their own that keeps nothing: they go back to the system.
  std::shared_ptr<std::byte> block = MemoryPool().take(bytes);
  if (!block)
    return ioError("out of memory: cannot allocate " + std::to_string(bytes) + " bytes");
  return block;
}

Result<WeightView> checkedWeight(const ProgramSource &source, const std::string &key, const Value &type) {
  std::optional<WeightView> weight;
  if (source.findWeight)
    weight = source.findWeight(key);
  if (!weight)
    return corruptError("the weights have no tensor `" + key + "`, which the plan needs");
  TensorDesc desc = TensorDesc::contiguous(weight->dtype, weight->shape);
  if (weight->dtype != type.dtype || weight->shape != type.shape)
    return corruptError("weight `" + key + "` is " + describe(desc) + ", the plan says " +
                        std::string(dtypeName(type.dtype)) + shapeText(type.shape));
  INGOT_TRY(size_t bytes, checkedBytes(desc));
  if (weight->data.size() < bytes)
    return corruptError("weight `" + key + "` is shorter than its shape says");
  return *std::move(weight);
}

Status States::create(const ProgramSource &source) {
  for (const Function &function : source.plan.functions)
    for (const State &state : function.states)
      if (!state.isArgument())
        INGOT_CHECK(add(function, state, source));
  return reset();
}

Status States::add(const Function &function, const State &state, const ProgramSource &source) {
  const Value &type = function.values[static_cast<size_t>(state.input)];
  if (std::optional<size_t> known = find(state.name)) {
    const TensorDesc &desc = slots[*known].desc;
    if (desc.dtype != type.dtype || desc.sizes != type.shape)
      return corruptError("two functions disagree about state `" + state.name + "`");
    return {};
  }
  Slot slot;
  slot.name = state.name;
  slot.desc = TensorDesc::contiguous(type.dtype, type.shape);
  INGOT_TRY(slot.bytes, checkedBytes(slot.desc));
  INGOT_TRY(WeightView initial, checkedWeight(source, state.initialWeight, type));
  slot.initial = initial.data.first(slot.bytes);
  INGOT_TRY(slot.blocks[0], allocateBlock(slot.bytes));
  slots.push_back(std::move(slot));
  return {};
}

Result<std::unique_lock<ForkFreedMutex>> States::lock() const {
  if (mutex.isMine())
    return usageError("the states are in use by a call of this thread")
        .note("a signal handler or an operator that runs during a call must use a session of its own");
  return std::unique_lock(mutex);
}

Status States::reset() {
  INGOT_TRY(const auto held, lock());
  for (Slot &slot : slots)
    if (slot.bytes > 0)
      std::memcpy(slot.current().get(), slot.initial.data(), slot.bytes);
  return {};
}

std::optional<size_t> States::find(std::string_view name) const {
  auto it = std::ranges::find(slots, name, &Slot::name);
  return it == slots.end() ? std::nullopt : std::optional(static_cast<size_t>(it - slots.begin()));
}

std::vector<std::string> States::names() const {
  std::vector<std::string> list;
  for (const Slot &slot : slots)
    list.push_back(slot.name);
  return list;
}

Result<size_t> States::require(std::string_view name) const {
  if (std::optional<size_t> state = find(name))
    return *state;
  std::vector<std::string_view> known;
  for (const Slot &slot : slots)
    known.push_back(slot.name);
  return usageError("there is no state `" + std::string(name) + "` that is kept between calls" +
                    suggestion(name, known));
}

Result<OutputTensor> States::read(std::string_view name) const {
  INGOT_TRY(size_t state, require(name));
  OutputTensor copy{slots[state].desc, nullptr};
  INGOT_TRY(copy.data, allocateBlock(slots[state].bytes));
  INGOT_TRY(const auto held, lock());
  std::memcpy(copy.data.get(), current(state), slots[state].bytes);
  return copy;
}

Status States::write(std::string_view name, const TensorView &value) {
  INGOT_TRY(size_t state, require(name));
  const TensorDesc &desc = slots[state].desc;
  if (value.desc.dtype != desc.dtype || value.desc.sizes != desc.sizes || !checkedExtent(value.desc))
    return usageError("state `" + std::string(name) + "` is " + describe(desc) + ", got " + describe(value.desc));
  if (!value.data && slots[state].bytes > 0)
    return usageError("state `" + std::string(name) + "`: the data pointer is null");
  INGOT_TRY(const auto held, lock());
  StridedCopy(desc.sizes, value.desc.strides, desc.strides, byteSize(desc.dtype)).run(value.data, current(state));
  return {};
}

std::byte *States::next(size_t state) {
  Slot &slot = slots[state];
  if (!slot.next()) {
    Result<std::shared_ptr<std::byte>> block = allocateBlock(slot.bytes);
    if (!block)
      return nullptr;
    slot.next() = *std::move(block);
  }
  return slot.next().get();
}

} // namespace ingot
