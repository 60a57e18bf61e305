#include "runtime/ProgramImpl.h"

#include "runtime/CopyCounter.h"
#include "runtime/Description.h"
#include "runtime/PlanJson.h"
#include "runtime/TensorDesc.h"
#include "runtime/kernels/view/StridedCopy.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <cstring>

namespace ingot {

ScalarValue readScalar(DType dtype, const void *data) {
  if (dtype == DType::Float64) {
    double number = 0;
    std::memcpy(&number, data, sizeof(number));
    return number;
  }
  if (dtype == DType::Bool)
    return *static_cast<const uint8_t *>(data) != 0;
  int64_t number = 0;
  std::memcpy(&number, data, sizeof(number));
  return number;
}

void writeScalar(const ScalarValue &scalar, void *data) {
  std::visit([&](auto number) { std::memcpy(data, &number, sizeof(number)); }, scalar);
}

namespace {

/// A vector per thread that calls take and give back: no allocation in the steady state, and a call from
/// inside a call finds one of its own.
std::vector<std::byte *> &spareAddresses() {
  thread_local std::vector<std::byte *> spare;
  return spare;
}

} // namespace

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

Status Program::Impl::prepare() {
  INGOT_CHECK(validatePlan(source.plan));
  if (!source.findSymbol && !source.kernelLibrary.empty())
    INGOT_CHECK(library.open(source.kernelLibrary));
  budget = MemoryBudget(source.memoryLimit);
  INGOT_CHECK(holdStates());
  INGOT_CHECK(states.create(source));
  prepared = PreparedFile(source.preparedPath, source.preparedKey, source.intact);
  packed.open(source.packedPath, source.preparedKey, source.intact);
  do {
    entries.clear();
    for (const Function &function : source.plan.functions) {
      INGOT_TRY(std::unique_ptr<Entry> entry, prepareEntry(function));
      entries.push_back(std::move(entry));
    }
  } while (!prepared.isIntact());
  if (source.finishChecks)
    INGOT_CHECK(source.finishChecks(source.intact));
  prepared.save(source.intact); // only what comes from weights that are in order
  packed.offer(constants(), source.intact);
  source.intact.save();
  description = describePlan(source.plan);
  return {};
}

std::vector<std::span<const std::byte>> Program::Impl::constants() const {
  std::vector<std::span<const std::byte>> all;
  for (const std::unique_ptr<Entry> &entry : entries)
    for (const std::optional<KnownValue> &known : entry->environment.known)
      if (known && known->data)
        all.emplace_back(static_cast<const std::byte *>(known->data), known->bytes);
  return all;
}

Result<std::unique_ptr<Entry>> Program::Impl::prepareEntry(const Function &function) {
  auto entry = std::make_unique<Entry>(function);
  entry->environment.findSymbol =
      source.findSymbol ? source.findSymbol : [this](const std::string &symbol) { return library.find(symbol); };
  entry->environment.contiguousConstant = [this](const void *data, const TensorDesc &desc) {
    return contiguousConstant(data, desc);
  };
  for (const State &state : function.states)
    entry->states.push_back(state.isArgument() ? std::nullopt : states.find(state.name));
  INGOT_CHECK(defineConstants(*entry));
  if (Status status = runPrologue(*entry); !status)
    return std::move(status.error()).note("while preparing the constants of `" + function.name + "`");
  // Not the prologue: what it computes is kept in a file for all who load the asset.
  entry->environment.precision = source.precision;
  entry->environment.methods = &source.methods;
  INGOT_CHECK(checkFixedSizes(*entry));
  return entry;
}

Status Program::Impl::holdStates() {
  for (const Function &function : source.plan.functions)
    for (const State &state : function.states) {
      if (!budget.isLimited() || state.isArgument())
        continue;
      const Value &type = function.values[static_cast<size_t>(state.input)];
      INGOT_TRY(WeightView initial, checkedWeight(source, state.initialWeight, type));
      // The initial value, and the value it has.
      budget.hold(initial.data.data(), 2 * uint64_t(initial.data.size()));
    }
  return budget.check(0, "the program");
}

Status Program::Impl::checkBudget(const Binding &binding, const std::string &what) const {
  if (!budget.isLimited())
    return {};
  uint64_t bytes = binding.arenaBytes();
  for (const Buffer &buffer : binding.buffers())
    if (buffer.kind == BufferKind::Output || buffer.kind == BufferKind::NextState)
      bytes += buffer.bytes;
  return budget.check(bytes, what);
}

Status Program::Impl::checkFixedSizes(Entry &entry) {
  const Function &function = entry.function();
  if (!budget.isLimited() || entry.isDriver())
    return {};
  std::vector<InputDesc> inputs;
  for (const Input *input : givenInputs(function)) {
    const Value &type = function.values[static_cast<size_t>(input->value)];
    if (type.kind == ValueKind::Scalar || std::ranges::find(type.shape, kDynamic) != type.shape.end())
      return {};
    inputs.push_back({TensorDesc::contiguous(type.dtype, type.shape), {}, false});
  }
  ThreadScope threads;
  INGOT_TRY(std::shared_ptr<const Binding> binding, Binding::bind(entry.environment, inputs));
  return checkBudget(*binding, "`" + function.name + "`");
}

Status Program::Impl::defineConstants(Entry &entry) {
  const Function &function = entry.function();
  entry.environment.known.resize(function.values.size());
  for (const Constant &constant : function.constants) {
    const Value &type = function.values[static_cast<size_t>(constant.value)];
    KnownValue known;
    known.desc = TensorDesc::contiguous(type.dtype, type.shape);
    if (constant.weight.empty()) {
      known.data = constant.bytes.data();
      known.bytes = constant.bytes.size();
      if (type.kind == ValueKind::Scalar)
        known.scalar = readScalar(type.dtype, known.data);
    } else {
      INGOT_TRY(WeightView weight, checkedWeight(source, constant.weight, type));
      known.data = weight.data.data();
      known.bytes = weight.data.size();
      budget.hold(known.data, known.bytes);
    }
    entry.environment.known[static_cast<size_t>(constant.value)] = std::move(known);
  }
  return budget.check(0, "the program");
}

/// Memory for the results of a prologue; true where they are in the cache already.
Result<bool> Program::Impl::placePrepared(Entry &entry, const Binding &binding, std::span<std::byte *> bases) {
  std::vector<size_t> outputs, sizes;
  for (size_t i = 0; i < bases.size(); ++i)
    if (const Buffer &buffer = binding.buffers()[i]; buffer.kind == BufferKind::Output) {
      outputs.push_back(i);
      sizes.push_back(buffer.bytes);
    }
  const std::vector<const std::byte *> found = prepared.take(sizes);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!found.empty()) {
      bases[outputs[i]] = const_cast<std::byte *>(found[i]); // nobody writes to constants
      budget.hold(found[i], sizes[i]);
      continue;
    }
    INGOT_TRY(std::shared_ptr<std::byte> block, allocateBlock(sizes[i]));
    bases[outputs[i]] = block.get();
    budget.hold(block.get(), sizes[i]);
    prepared.add({block.get(), sizes[i]});
    entry.prepared.push_back(std::move(block));
  }
  return !found.empty();
}

/// Runs the steps that depend on constants only; their results become constants themselves.
Status Program::Impl::runPrologue(Entry &entry) {
  if (entry.function().prologue.empty())
    return {};
  ThreadScope threads;
  INGOT_TRY(std::shared_ptr<const Binding> binding, Binding::bindPrologue(entry.environment));
  INGOT_CHECK(checkBudget(*binding, "preparing constants"));
  INGOT_TRY(std::shared_ptr<std::byte> arena, allocateBlock(binding->arenaBytes()));
  std::vector<std::byte *> bases(binding->buffers().size());
  binding->placeBuffers(arena.get(), bases);
  INGOT_TRY(bool isComputed, placePrepared(entry, *binding, bases));
  if (!isComputed)
    INGOT_CHECK(binding->run(bases));
  for (const KeptValue &kept : binding->kept()) {
    KnownValue known{.desc = kept.desc, .data = nullptr, .bytes = 0, .scalar = kept.scalar};
    if (!kept.scalar) {
      auto index = static_cast<size_t>(kept.location.buffer);
      known.data = bases[index] + kept.location.offset;
      known.bytes = binding->buffers()[index].bytes - static_cast<size_t>(kept.location.offset);
    }
    entry.environment.known[static_cast<size_t>(kept.value)] = std::move(known);
  }
  return {};
}

Result<const void *> Program::Impl::contiguousConstant(const void *data, const TensorDesc &desc) {
  BindingKey layout = {static_cast<int64_t>(desc.dtype)};
  layout.insert(layout.end(), desc.sizes.begin(), desc.sizes.end());
  layout.insert(layout.end(), desc.strides.begin(), desc.strides.end());
  std::lock_guard lock(copiesMutex);
  std::shared_ptr<std::byte> &copy = constantCopies[{data, std::move(layout)}];
  if (!copy) {
    TensorDesc target = TensorDesc::contiguous(desc.dtype, desc.sizes);
    INGOT_TRY(size_t bytes, checkedBytes(target));
    INGOT_TRY(copy, allocateBlock(bytes));
    StridedCopy(desc.sizes, desc.strides, target.strides, byteSize(desc.dtype)).run(data, copy.get());
  }
  return static_cast<const void *>(copy.get());
}

//===----------------------------------------------------------------------===//
// Calling
//===----------------------------------------------------------------------===//

Result<Entry *> Program::Impl::findEntry(std::string_view name) const {
  std::vector<std::string_view> names;
  std::string list;
  Entry *only = nullptr;
  for (const std::unique_ptr<Entry> &entry : entries) {
    if (entry->function().isInternal)
      continue;
    if (entry->function().name == name)
      return entry.get();
    only = entry.get();
    names.push_back(entry->function().name);
    list += (list.empty() ? "`" : ", `") + entry->function().name + "`";
  }
  if (name.empty() && names.size() == 1)
    return only;
  if (name.empty())
    return usageError("the program has several entry points, name one of " + list);
  return usageError("there is no entry point `" + std::string(name) + "`" + suggestion(name, names) +
                    " (the program has " + list + ")");
}

Entry *Program::Impl::findInternal(std::string_view name) const {
  auto it = std::ranges::find_if(entries, [&](const std::unique_ptr<Entry> &entry) {
    return entry->function().isInternal && entry->function().name == name;
  });
  return it == entries.end() ? nullptr : it->get();
}

static void appendKey(const TensorView &input, bool isScalar, BindingKey &key) {
  const TensorDesc &desc = input.desc;
  key.push_back(static_cast<int64_t>(desc.dtype));
  key.push_back(static_cast<int64_t>(desc.sizes.size()));
  key.insert(key.end(), desc.sizes.begin(), desc.sizes.end());
  bool isContiguous = desc.strides.size() == desc.sizes.size() && desc.isContiguous();
  key.push_back(isContiguous);
  key.push_back(input.data != nullptr);
  if (!isContiguous)
    key.insert(key.end(), desc.strides.begin(), desc.strides.end());
  if (isScalar && desc.sizes.empty() && input.data) {
    key.push_back(0);
    std::memcpy(&key.back(), input.data, std::min(sizeof(int64_t), byteSize(desc.dtype)));
  }
}

Result<std::shared_ptr<const Binding>> Program::Impl::bind(Entry &entry, const Call &call) {
  const std::span<const TensorView> inputs = call.inputs;
  const Function &function = entry.function();
  thread_local BindingKey key;
  key.clear();
  size_t index = 0;
  for (const Input &input : function.inputs)
    if (input.value != kNoValue && index < inputs.size())
      appendKey(inputs[index++], function.values[static_cast<size_t>(input.value)].kind == ValueKind::Scalar, key);
  key.push_back(static_cast<int64_t>(inputs.size()));
  for (bool mayOverwrite : call.mayOverwrite)
    key.push_back(mayOverwrite);
  // Kernels are made for a number of threads.
  key.push_back(numThreads());
  if (std::shared_ptr<const Binding> binding = entry.cache.find(key))
    return binding;

  // Whatever the key does not tell apart is bound the same, so that checks run once for each key.
  INGOT_CHECK(checkInputs(function, inputs));
  std::vector<InputDesc> descs;
  for (const Input *input : givenInputs(function)) {
    const TensorView &given = inputs[descs.size()];
    InputDesc desc{given.desc, {}, call.isOverwritable(descs.size())};
    if (function.values[static_cast<size_t>(input->value)].kind == ValueKind::Scalar)
      desc.scalar = readScalar(given.desc.dtype, given.data);
    descs.push_back(std::move(desc));
  }
  INGOT_TRY(std::shared_ptr<const Binding> binding, Binding::bind(entry.environment, descs));
  INGOT_CHECK(checkBudget(*binding, "this call of `" + function.name + "`"));
  entry.cache.add(key, binding);
  hasNewKernels.store(true, std::memory_order_relaxed);
  return binding;
}

Result<std::vector<OutputTensor>> Program::Impl::allocateOutputs(const Binding &binding, const Call &call) {
  std::vector<OutputTensor> outputs;
  outputs.reserve(binding.outputs().size());
  for (const BoundOutput &bound : binding.outputs()) {
    const Buffer *buffer = bound.scalar ? nullptr : &binding.buffers()[static_cast<size_t>(bound.buffer)];
    if (buffer && buffer->kind == BufferKind::Input) {
      auto *data = static_cast<std::byte *>(call.inputs[static_cast<size_t>(buffer->index)].data);
      outputs.push_back({bound.desc, std::shared_ptr<std::byte>(std::shared_ptr<void>(), data)});
      continue;
    }
    INGOT_TRY(size_t bytes, checkedBytes(bound.desc));
    OutputTensor output{bound.desc, memory.take(bytes)};
    if (!output.data)
      return ioError("out of memory: an output needs " + std::to_string(bytes) + " bytes");
    if (bound.scalar)
      writeScalar(*bound.scalar, output.data.get());
    outputs.push_back(std::move(output));
  }
  return outputs;
}

Status Program::Impl::placeOutside(const Binding &binding, const Call &call, std::span<const OutputTensor> outputs,
                                   std::span<std::byte *> bases, std::vector<std::shared_ptr<std::byte>> &made) {
  for (size_t i = 0; i < bases.size(); ++i) {
    const Buffer &buffer = binding.buffers()[i];
    auto index = static_cast<size_t>(buffer.index);
    switch (buffer.kind) {
    case BufferKind::Arena:
    case BufferKind::Constant:
      break;
    case BufferKind::Input:
      bases[i] = static_cast<std::byte *>(call.inputs[index].data);
      break;
    case BufferKind::Output:
      bases[i] = outputs[index].data.get();
      break;
    case BufferKind::State:
      bases[i] = call.memory[index].data;
      break;
    case BufferKind::NextState:
      if (call.memory[index].slot) {
        bases[i] = call.states->next(*call.memory[index].slot);
      } else {
        made.push_back(memory.take(buffer.bytes));
        bases[i] = made.back().get();
      }
      if (!bases[i])
        return ioError("out of memory: a state needs " + std::to_string(buffer.bytes) + " bytes");
      break;
    }
  }
  return {};
}

Status Program::Impl::execute(const Binding &binding, const Call &call, std::span<const OutputTensor> outputs) {
  std::shared_ptr<std::byte> arena = memory.take(binding.arenaBytes());
  if (!arena)
    return ioError("out of memory: the call needs " + std::to_string(binding.arenaBytes()) + " bytes");
  std::vector<std::byte *> bases = std::move(spareAddresses());
  bases.assign(binding.buffers().size(), nullptr);
  binding.placeBuffers(arena.get(), bases);
  std::vector<std::shared_ptr<std::byte>> made;
  INGOT_CHECK(placeOutside(binding, call, outputs, bases, made));
  {
    ComputeScope computes;
    INGOT_CHECK(binding.run(bases));
  }
  for (int32_t number : binding.replacedStates()) {
    const Buffer &buffer = binding.buffers()[static_cast<size_t>(number)];
    const StateMemory &state = call.memory[static_cast<size_t>(buffer.index)];
    if (state.slot)
      call.states->replace(*state.slot);
    else
      countedCopy(state.data, bases[static_cast<size_t>(number)], buffer.bytes);
  }
  spareAddresses() = std::move(bases);
  return {};
}

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

Program::Program(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}
Program::~Program() = default;

Result<std::shared_ptr<Program>> Program::create(ProgramSource source) {
  auto impl = std::make_unique<Impl>();
  impl->source = std::move(source);
  INGOT_CHECK(impl->prepare());
  return std::shared_ptr<Program>(new Program(std::move(impl)));
}

const Plan &Program::plan() const { return impl->source.plan; }

Result<const Function *> Program::entry(std::string_view name) const {
  INGOT_TRY(Entry * entry, impl->findEntry(name));
  return &entry->function();
}

Result<std::vector<OutputTensor>> Program::run(std::string_view entryName, std::span<const TensorView> inputs,
                                               std::span<const NamedTensor> given, States *states) {
  INGOT_TRY(Entry * entry, impl->findEntry(entryName));
  ThreadScope threads;
  States &own = states ? *states : impl->states;
  CancelScope scope(own.cancellation(), impl->source.timeLimit);
  UserCall user(*entry, own);
  INGOT_TRY(const Call *call, user.prepare(inputs, given));
  INGOT_TRY(std::vector<OutputTensor> outputs, impl->runEntry(*entry, *call));
  INGOT_CHECK(CancelScope::check()); // the last step may have been the long one
  return outputs;
}

Result<std::vector<OutputTensor>> Program::Impl::runPlanned(Entry &entry, const Call &call) {
  INGOT_TRY(std::shared_ptr<const Binding> binding, bind(entry, call));
  INGOT_TRY(std::vector<OutputTensor> outputs, allocateOutputs(*binding, call));
  INGOT_CHECK(execute(*binding, call, outputs));
  if (hasNewKernels.load(std::memory_order_relaxed) && hasNewKernels.exchange(false))
    packed.save(source.intact);
  return outputs;
}

Result<MemoryUse> Program::memoryUse(std::string_view entryName, std::span<const TensorView> inputs) {
  INGOT_TRY(Entry * entry, impl->findEntry(entryName));
  if (entry->isDriver())
    return unsupportedError("the memory that `" + entry->function().name + "` takes depends on the inputs' content");
  ThreadScope threads;
  INGOT_TRY(std::shared_ptr<const Binding> binding, impl->bind(*entry, Call{.inputs = inputs}));
  return MemoryUse{binding->arenaBytes(), binding->unsharedBytes()};
}

States &Program::states() const { return impl->states; }

Result<std::unique_ptr<States>> Program::newStates() const {
  auto made = std::make_unique<States>();
  INGOT_CHECK(made->create(impl->source));
  return made;
}

const std::string &Program::description() const { return impl->description; }

} // namespace ingot
