// Runs functions step by step: calls, branches, loops, and kernels whose result sizes depend on data. Between these,
// straight runs of steps are functions of their own that are planned as a whole (Binding.h).
#include "runtime/Binder.h"
#include "runtime/Cancel.h"
#include "runtime/CopyCounter.h"
#include "runtime/ProgramImpl.h"
#include "runtime/TensorDesc.h"
#include "runtime/kernels/view/StridedCopy.h"

#include <algorithm>
#include <cstring>

namespace ingot {

bool runsStepByStep(const Function &function) {
  return std::ranges::any_of(function.steps, [](const Step &step) {
    const KernelDef *kernel = findKernel(step.kernel);
    return kernel && (kernel->evaluate || !kernel->infer);
  });
}

namespace {

/// A value between two steps. Memory belongs to `owner`, or to somebody who outlives the call.
struct HostValue {
  TensorDesc desc;
  const std::byte *data = nullptr;
  std::shared_ptr<std::byte> owner;
  std::optional<ScalarValue> scalar;
  bool isDefined = false;
  bool isWritable =
      false; ///< has no owner, and may be changed by whoever reads it last: a state, an overwritable input

  /// Whether nobody else sees the memory, so that a call may return a result in it.
  bool isOurs() const {
    const bool isOwned = owner.use_count() == 1 && owner.get() == data;
    return !scalar && (isWritable || isOwned) && desc.isContiguous();
  }
};

using HostValues = std::vector<HostValue>;

/// The steps of one call of one function.
class Driver {
public:
  Driver(Program::Impl &program, Entry &entry, const Call &call)
      : program(program), entry(entry), function(entry.function()), given(call) {}

  Result<std::vector<OutputTensor>> run();

private:
  void define();
  void findLastUses();
  void release(const Step &step, int32_t number);
  Status runStep(const Step &step, int32_t number);
  Status evaluate(const Step &step, const KernelDef &kernel);
  Status invoke(const Step &step, int32_t number);
  Result<HostValues> takeOperands(const Step &step, int32_t number);
  Result<HostValues> loop(const Step &step, HostValues operands);
  Result<HostValues> scan(const Step &step, HostValues operands);
  Result<HostValues> fold(const Step &step, HostValues operands);
  Status setResults(const Step &step, HostValues results);
  Status replaceStates();

  Result<HostValue> contiguous(const HostValue &value);
  Result<HostValues> call(const Step &step, size_t which, const HostValues &operands, size_t overwritable = 0);
  Result<std::vector<size_t>> groups(const Step &step, size_t operands) const;
  Result<int64_t> length(std::span<const HostValue> sequences) const;
  Status stack(HostValue &stacked, const HostValue &slice, int64_t position, int64_t count);
  Result<HostValue> emptyStack(ValueId result);
  Result<OutputTensor> takeOutput(HostValue &value);

  HostValue &at(ValueId id) { return values[static_cast<size_t>(id)]; }

  Program::Impl &program;
  Entry &entry;
  const Function &function;
  const Call &given;
  HostValues values;
  std::vector<int32_t> lastUse;             ///< number of the last step that reads the value
  std::vector<std::vector<int64_t>> before; ///< sizes of the states
};

//===----------------------------------------------------------------------===//
// Before the first step
//===----------------------------------------------------------------------===//

void Driver::define() {
  values.resize(function.values.size());
  for (size_t i = 0; i < entry.environment.known.size(); ++i)
    if (const std::optional<KnownValue> &known = entry.environment.known[i])
      values[i] = {known->desc, static_cast<const std::byte *>(known->data), {}, known->scalar, true, false};
  size_t index = 0;
  for (const Input *input : givenInputs(function)) {
    const TensorView &view = given.inputs[index];
    HostValue value{view.desc, static_cast<const std::byte *>(view.data), {}, {}, true, given.isOverwritable(index)};
    if (function.values[static_cast<size_t>(input->value)].kind == ValueKind::Scalar)
      value.scalar = readScalar(view.desc.dtype, view.data);
    at(input->value) = std::move(value);
    ++index;
  }
  for (size_t i = 0; i < function.states.size(); ++i) {
    HostValue &value = at(function.states[i].input);
    if (const std::optional<size_t> slot = entry.states[i])
      value = {given.states->desc(*slot), given.memory[i].data, {}, {}, true, true};
    value.isWritable = true;
  }
}

void Driver::findLastUses() {
  lastUse.assign(function.values.size(), -1);
  for (size_t i = 0; i < function.steps.size(); ++i)
    for (ValueId id : function.steps[i].operands)
      if (id != kNoValue)
        lastUse[static_cast<size_t>(id)] = static_cast<int32_t>(i);
  for (const Output &output : function.outputs)
    if (output.value != kNoValue)
      lastUse[static_cast<size_t>(output.value)] = INT32_MAX;
  for (const State &state : function.states)
    lastUse[static_cast<size_t>(state.output)] = INT32_MAX;
}

/// Gives back the memory of what no later step reads.
void Driver::release(const Step &step, int32_t number) {
  auto drop = [&](ValueId id) {
    if (id != kNoValue && lastUse[static_cast<size_t>(id)] <= number)
      at(id).owner.reset();
  };
  std::ranges::for_each(step.operands, drop);
  std::ranges::for_each(step.results, drop);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Status Driver::runStep(const Step &step, int32_t number) {
  const KernelDef *kernel = findKernel(step.kernel);
  for (ValueId id : step.operands)
    if (id != kNoValue && !at(id).isDefined)
      return corruptError("value " + std::to_string(id) + " is used before it is defined");
  if (kernel && kernel->evaluate)
    return evaluate(step, *kernel);
  if (step.kernel == "invoke")
    return invoke(step, number);
  return corruptError("a step of this kind cannot stand between calls");
}

Result<HostValue> Driver::contiguous(const HostValue &value) {
  if (value.scalar || value.desc.isContiguous())
    return value;
  HostValue copy;
  copy.desc = TensorDesc::contiguous(value.desc.dtype, value.desc.sizes);
  copy.isDefined = true;
  INGOT_TRY(size_t bytes, checkedBytes(copy.desc));
  INGOT_TRY(copy.owner, allocateBlock(bytes));
  copy.data = copy.owner.get();
  StridedCopy(copy.desc.sizes, value.desc.strides, copy.desc.strides, byteSize(copy.desc.dtype))
      .run(value.data, copy.owner.get());
  return copy;
}

Status Driver::evaluate(const Step &step, const KernelDef &kernel) {
  HostValues held;
  std::vector<BoundOperand> operands;
  for (ValueId id : step.operands) {
    if (id == kNoValue) {
      operands.emplace_back();
      continue;
    }
    INGOT_TRY(HostValue value, kernel.acceptsStrides ? Result<HostValue>(at(id)) : contiguous(at(id)));
    operands.push_back({.present = true, .desc = value.desc, .data = value.data, .scalar = value.scalar});
    held.push_back(std::move(value));
  }
  std::vector<Value> types;
  for (ValueId id : step.results)
    types.push_back(function.values[static_cast<size_t>(id)]);
  INGOT_TRY(std::vector<EvaluatedResult> results,
            kernel.evaluate(StepContext{step, types, operands, entry.environment.findSymbol}));
  HostValues produced;
  for (EvaluatedResult &result : results) {
    const std::byte *data = result.data.get();
    produced.push_back({std::move(result.desc), data, std::move(result.data), result.scalar, true, false});
  }
  return setResults(step, std::move(produced));
}

Status Driver::setResults(const Step &step, HostValues results) {
  if (results.size() != step.results.size())
    return corruptError("there are " + std::to_string(results.size()) + " results, the plan says " +
                        std::to_string(step.results.size()));
  for (size_t i = 0; i < results.size(); ++i) {
    const Value &type = function.values[static_cast<size_t>(step.results[i])];
    const bool isScalar = type.kind == ValueKind::Scalar;
    const bool fits = isScalar == results[i].scalar.has_value() &&
                      (isScalar ? fitsType(type, *results[i].scalar) : fitsType(type, results[i].desc));
    if (!fits)
      return unsupportedError("result " + std::to_string(i) + " is " + describe(results[i].desc) +
                              ", where the program was exported for " + std::string(dtypeName(type.dtype)) +
                              shapeText(type.shape));
    at(step.results[i]) = std::move(results[i]);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Calls, branches and loops
//===----------------------------------------------------------------------===//

/// Calls number `which` of the step's functions. The first `overwritable` operands are not needed afterwards: results
/// may come back in the memory of those that are ours.
Result<HostValues> Driver::call(const Step &step, size_t which, const HostValues &operands, size_t overwritable) {
  auto attribute = step.attributes.find("functions");
  const auto *names =
      attribute == step.attributes.end() ? nullptr : std::get_if<std::vector<std::string>>(&attribute->second);
  if (!names || which >= names->size())
    return corruptError("the step does not say what to call");
  Entry *callee = program.findInternal((*names)[which]);
  if (!callee)
    return corruptError("there is no function `" + (*names)[which] + "`");
  std::vector<TensorView> inputs;
  Call inner;
  for (const HostValue &operand : operands) {
    const void *data = operand.data;
    if (operand.scalar)
      data = std::visit([](const auto &number) -> const void * { return &number; }, *operand.scalar);
    inner.mayOverwrite.push_back(inputs.size() < overwritable && operand.isOurs());
    inputs.push_back({const_cast<void *>(data), operand.desc});
  }
  inner.inputs = inputs;
  INGOT_TRY(std::vector<OutputTensor> outputs, program.runEntry(*callee, inner));
  HostValues results;
  for (const Output &output : callee->function().outputs) {
    OutputTensor &tensor = outputs[results.size()];
    HostValue value{std::move(tensor.desc), tensor.data.get(), std::move(tensor.data), {}, true, false};
    auto same = std::ranges::find(operands, value.data, &HostValue::data);
    if (value.data && value.owner.use_count() == 0 && same != operands.end()) {
      value.owner = same->owner;
      value.isWritable = same->isWritable;
    }
    if (callee->function().values[static_cast<size_t>(output.value)].kind == ValueKind::Scalar)
      value.scalar = readScalar(value.desc.dtype, value.data);
    results.push_back(std::move(value));
  }
  return results;
}

Result<bool> isTrue(const HostValue &condition) {
  if (condition.scalar)
    if (const bool *value = std::get_if<bool>(&*condition.scalar))
      return *value;
  if (condition.scalar || condition.desc.dtype != DType::Bool || condition.desc.numel() != 1)
    return corruptError("the condition is no single boolean but " + describe(condition.desc));
  return *reinterpret_cast<const uint8_t *>(condition.data) != 0;
}

/// What the step reads last is taken out, so that nobody else holds it: its memory can be used again.
Result<HostValues> Driver::takeOperands(const Step &step, int32_t number) {
  HostValues operands;
  for (ValueId id : step.operands) {
    if (id == kNoValue)
      return corruptError("a call lacks an operand");
    const bool isLast = lastUse[static_cast<size_t>(id)] == number && std::ranges::count(step.operands, id) == 1;
    if (isLast) {
      operands.push_back(std::move(at(id)));
    } else {
      operands.push_back(at(id));
      operands.back().isWritable = false;
    }
  }
  return operands;
}

Status Driver::invoke(const Step &step, int32_t number) {
  INGOT_TRY(HostValues operands, takeOperands(step, number));
  auto attribute = step.attributes.find("kind");
  const auto *kind = attribute == step.attributes.end() ? nullptr : std::get_if<std::string>(&attribute->second);
  Result<HostValues> results = corruptError("the step does not say what it is");
  if (kind && *kind == "call") {
    results = call(step, 0, operands, operands.size());
  } else if (kind && *kind == "if" && !operands.empty()) {
    INGOT_TRY(bool condition, isTrue(operands.front()));
    operands.erase(operands.begin());
    results = call(step, condition ? 0 : 1, operands, operands.size());
  } else if (kind && *kind == "while") {
    results = loop(step, std::move(operands));
  } else if (kind && *kind == "scan") {
    results = scan(step, std::move(operands));
  } else if (kind && *kind == "fold") {
    results = fold(step, std::move(operands));
  }
  if (!results)
    return std::move(results.error());
  return setResults(step, *std::move(results));
}

/// How many operands are carried, sequences, and extra.
Result<std::vector<size_t>> Driver::groups(const Step &step, size_t operands) const {
  auto attribute = step.attributes.find("groups");
  const auto *counts =
      attribute == step.attributes.end() ? nullptr : std::get_if<std::vector<int64_t>>(&attribute->second);
  std::vector<size_t> result;
  size_t left = operands;
  for (size_t i = 0; counts && i < counts->size(); ++i) {
    if ((*counts)[i] < 0 || static_cast<size_t>((*counts)[i]) > left)
      break;
    result.push_back(static_cast<size_t>((*counts)[i]));
    left -= result.back();
  }
  if (result.size() != 3 || left != 0)
    return corruptError("the groups of the step's operands do not fit");
  return result;
}

Result<HostValues> Driver::loop(const Step &step, HostValues operands) {
  INGOT_TRY(std::vector<size_t> counts, groups(step, operands.size()));
  while (true) {
    INGOT_CHECK(CancelScope::check()); // neither function may have a step
    INGOT_TRY(HostValues test, call(step, 0, operands));
    if (test.size() != 1)
      return corruptError("the loop's test gives no single boolean");
    INGOT_TRY(bool goesOn, isTrue(test.front()));
    if (!goesOn)
      break;
    INGOT_TRY(HostValues next, call(step, 1, operands, counts[0]));
    if (next.size() != counts[0])
      return corruptError("the loop's body gives too few or too many values");
    std::ranges::move(next, operands.begin());
  }
  operands.resize(counts[0]);
  return operands;
}

//===----------------------------------------------------------------------===//
// Going over sequences
//===----------------------------------------------------------------------===//

Result<int64_t> Driver::length(std::span<const HostValue> sequences) const {
  for (const HostValue &sequence : sequences)
    if (sequence.scalar || sequence.desc.sizes.empty() ||
        sequence.desc.sizes[0] != sequences.front().desc.sizes.front())
      return usageError("sequences that are gone over together have different lengths");
  if (sequences.empty())
    return corruptError("there is no sequence to go over");
  return sequences.front().desc.sizes[0];
}

HostValue sliceAt(const HostValue &sequence, int64_t position) {
  HostValue slice = sequence;
  const int64_t stride = sequence.desc.strides.front();
  slice.desc.sizes.erase(slice.desc.sizes.begin());
  slice.desc.strides.erase(slice.desc.strides.begin());
  slice.data += position * stride * static_cast<int64_t>(byteSize(slice.desc.dtype));
  slice.isWritable = false;
  return slice;
}

/// Puts a slice at its place; the first one decides the sizes.
Status Driver::stack(HostValue &stacked, const HostValue &slice, int64_t position, int64_t count) {
  if (slice.scalar)
    return corruptError("a number cannot be stacked");
  INGOT_TRY(size_t bytes, checkedBytes(slice.desc));
  if (!stacked.isDefined) {
    std::vector<int64_t> sizes = slice.desc.sizes;
    sizes.insert(sizes.begin(), count);
    stacked.desc = TensorDesc::contiguous(slice.desc.dtype, std::move(sizes));
    INGOT_TRY(size_t all, checkedBytes(stacked.desc));
    INGOT_TRY(stacked.owner, allocateBlock(all));
    stacked.data = stacked.owner.get();
    stacked.isDefined = true;
  }
  const std::span<const int64_t> wanted = std::span(stacked.desc.sizes).subspan(1);
  if (!std::ranges::equal(wanted, slice.desc.sizes) || slice.desc.dtype != stacked.desc.dtype)
    return unsupportedError("the slices of a stacked result have different shapes");
  INGOT_TRY(HostValue source, contiguous(slice));
  std::memcpy(stacked.owner.get() + static_cast<size_t>(position) * bytes, source.data, bytes);
  return {};
}

/// What stacking no slices gives, as far as the plan tells.
Result<HostValue> Driver::emptyStack(ValueId result) {
  const Value &type = function.values[static_cast<size_t>(result)];
  std::vector<int64_t> sizes = type.shape;
  for (int64_t &size : sizes)
    size = size == kDynamic ? 0 : size;
  HostValue value;
  value.desc = TensorDesc::contiguous(type.dtype, std::move(sizes));
  INGOT_TRY(size_t bytes, checkedBytes(value.desc));
  INGOT_TRY(value.owner, allocateBlock(bytes));
  value.data = value.owner.get();
  value.isDefined = true;
  return value;
}

Result<HostValues> Driver::scan(const Step &step, HostValues operands) {
  INGOT_TRY(std::vector<size_t> counts, groups(step, operands.size()));
  const size_t carried = counts[0];
  const std::span<const HostValue> sequences = std::span(operands).subspan(carried, counts[1]);
  INGOT_TRY(int64_t count, length(sequences));
  if (step.results.size() < carried)
    return corruptError("a carried value has no result");
  HostValues current = operands, stacked(step.results.size() - carried);
  for (int64_t i = 0; i < count; ++i) {
    for (size_t s = 0; s < sequences.size(); ++s)
      current[carried + s] = sliceAt(sequences[s], i);
    INGOT_TRY(HostValues next, call(step, 0, current, carried));
    if (next.size() != step.results.size())
      return corruptError("the body gives too few or too many values");
    std::move(next.begin(), next.begin() + static_cast<ptrdiff_t>(carried), current.begin());
    for (size_t s = 0; s < stacked.size(); ++s)
      INGOT_CHECK(stack(stacked[s], next[carried + s], i, count));
  }
  HostValues results(current.begin(), current.begin() + static_cast<ptrdiff_t>(carried));
  for (size_t s = 0; s < stacked.size(); ++s) {
    if (!stacked[s].isDefined) {
      INGOT_TRY(stacked[s], emptyStack(step.results[carried + s]));
    }
    results.push_back(std::move(stacked[s]));
  }
  return results;
}

Result<HostValues> Driver::fold(const Step &step, HostValues operands) {
  INGOT_TRY(std::vector<size_t> counts, groups(step, operands.size()));
  const size_t width = counts[1];
  INGOT_TRY(int64_t count, length(std::span(operands).first(width)));
  if (counts[0] != 0 || step.results.size() != width)
    return corruptError("an associative scan has a result for each sequence");
  HostValues running, stacked(width);
  for (int64_t i = 0; i < count; ++i) {
    HostValues slices;
    for (size_t s = 0; s < width; ++s)
      slices.push_back(sliceAt(operands[s], i));
    if (i == 0) {
      running = std::move(slices);
    } else {
      HostValues all = std::move(running);
      all.insert(all.end(), slices.begin(), slices.end());
      all.insert(all.end(), operands.begin() + static_cast<ptrdiff_t>(width), operands.end());
      INGOT_TRY(running, call(step, 0, all));
      if (running.size() != width)
        return corruptError("the body gives too few or too many values");
    }
    for (size_t s = 0; s < width; ++s)
      INGOT_CHECK(stack(stacked[s], running[s], i, count));
  }
  for (size_t s = 0; s < width; ++s)
    if (!stacked[s].isDefined) {
      INGOT_TRY(stacked[s], emptyStack(step.results[s]));
    }
  return stacked;
}

//===----------------------------------------------------------------------===//
// After the last step
//===----------------------------------------------------------------------===//

/// The value in memory that only the caller knows.
Result<OutputTensor> Driver::takeOutput(HostValue &value) {
  OutputTensor output{TensorDesc::contiguous(value.desc.dtype, value.desc.sizes), nullptr};
  // States of an entry point stay in their memory; what is ours goes out once.
  if (value.isOurs() && (function.isInternal || !value.isWritable)) {
    output.data = value.owner
                      ? value.owner
                      : std::shared_ptr<std::byte>(std::shared_ptr<void>(), const_cast<std::byte *>(value.data));
    value.isWritable = false;
    return output;
  }
  INGOT_TRY(size_t bytes, checkedBytes(output.desc));
  INGOT_TRY(output.data, allocateBlock(std::max(bytes, sizeof(int64_t))));
  if (value.scalar)
    writeScalar(*value.scalar, output.data.get());
  else
    StridedCopy(output.desc.sizes, value.desc.strides, output.desc.strides, byteSize(output.desc.dtype))
        .run(value.data, output.data.get());
  return output;
}

/// New values that are not in the states' memory yet are all made before any goes there: one may lie in another's.
Status Driver::replaceStates() {
  std::vector<std::pair<size_t, std::shared_ptr<std::byte>>> made;
  for (size_t i = 0; i < function.states.size(); ++i) {
    const HostValue &after = at(function.states[i].output);
    const StateMemory &state = given.memory[i];
    if (after.data == state.data)
      continue;
    const Value &type = function.values[static_cast<size_t>(function.states[i].input)];
    TensorDesc desc = TensorDesc::contiguous(type.dtype, after.desc.sizes);
    if (after.desc.sizes != before[i])
      return corruptError("state `" + function.states[i].name + "` changes its size");
    INGOT_TRY(size_t bytes, checkedBytes(desc));
    std::shared_ptr<std::byte> next;
    if (state.slot)
      next = std::shared_ptr<std::byte>(std::shared_ptr<void>(), given.states->next(*state.slot));
    else if (after.isOurs() && !after.isWritable)
      next = after.owner;
    else
      next = program.memory.take(bytes);
    if (!next && bytes > 0)
      return ioError("out of memory: a state cannot be kept");
    if (next.get() != after.data)
      StridedCopy(desc.sizes, after.desc.strides, desc.strides, byteSize(desc.dtype)).run(after.data, next.get());
    made.emplace_back(i, std::move(next));
  }
  for (const auto &[i, next] : made) {
    if (given.memory[i].slot) {
      given.states->replace(*given.memory[i].slot);
      continue;
    }
    INGOT_TRY(size_t bytes, checkedBytes(TensorDesc::contiguous(at(function.states[i].output).desc.dtype, before[i])));
    countedCopy(given.memory[i].data, next.get(), bytes);
  }
  return {};
}

Result<std::vector<OutputTensor>> Driver::run() {
  INGOT_CHECK(checkInputs(function, given.inputs));
  define();
  findLastUses();
  for (const State &state : function.states)
    before.push_back(at(state.input).desc.sizes);
  for (size_t i = 0; i < function.steps.size(); ++i) {
    const Step &step = function.steps[i];
    if (Status status = runStep(step, static_cast<int32_t>(i)); !status)
      return std::move(status.error()).note("in " + stepText(step));
    release(step, static_cast<int32_t>(i));
  }
  std::vector<OutputTensor> outputs;
  for (const Output &output : function.outputs) {
    if (output.value == kNoValue)
      continue;
    INGOT_TRY(OutputTensor tensor, takeOutput(at(output.value)));
    outputs.push_back(std::move(tensor));
  }
  INGOT_CHECK(replaceStates());
  return outputs;
}

} // namespace

Result<std::vector<OutputTensor>> Program::Impl::runDriver(Entry &entry, const Call &call) {
  return Driver(*this, entry, call).run();
}

} // namespace ingot
