#include "runtime/Binder.h"

#include "base/Bytes.h"
#include "runtime/TensorDesc.h"

#include <algorithm>

namespace ingot {

bool fitsType(const Value &type, const TensorDesc &desc) {
  if (type.dtype != desc.dtype || type.shape.size() != desc.sizes.size())
    return false;
  for (size_t i = 0; i < type.shape.size(); ++i)
    if (type.shape[i] != kDynamic && type.shape[i] != desc.sizes[i])
      return false;
  return true;
}

bool fitsType(const Value &type, const ScalarValue &scalar) {
  switch (type.dtype) {
  case DType::Int64:
    return std::holds_alternative<int64_t>(scalar);
  case DType::Float64:
    return std::holds_alternative<double>(scalar);
  default:
    return std::holds_alternative<bool>(scalar);
  }
}

namespace {

/// Stands for the step of copies that no step of the plan asked for.
const Step &outputCopyStep() {
  static const Step step{"copy", {}, {}, {}, "output", {}};
  return step;
}

} // namespace

bool DraftStep::needsKernel() const {
  return std::ranges::any_of(results, [](const ResultDesc &result) {
    return !result.scalar && result.viewOf < 0 && result.desc.numel() != 0;
  });
}

bool DraftStep::mayWriteOver(size_t operand) const {
  return !isCopy && operand < 32 && (kernel->inPlaceOperands >> operand) & 1;
}

int32_t Binder::addBuffer(Buffer buffer) {
  buffer.first = buffer.last = currentStep();
  buffers.push_back(buffer);
  return static_cast<int32_t>(buffers.size() - 1);
}

//===----------------------------------------------------------------------===//
// What is there before the first step
//===----------------------------------------------------------------------===//

Status Binder::defineKnown() {
  for (size_t i = 0; i < environment.known.size() && i < function.values.size(); ++i) {
    const std::optional<KnownValue> &known = environment.known[i];
    if (!known)
      continue;
    BoundValue &value = values[i];
    value.isDefined = true;
    value.desc = known->desc;
    value.scalar = known->scalar;
    if (known->scalar)
      continue;
    std::optional<Extent> extent = checkedExtent(known->desc);
    std::optional<int64_t> need;
    if (extent)
      need = checkedMul(extent->end, static_cast<int64_t>(byteSize(known->desc.dtype)));
    if (!need || extent->begin < 0 || static_cast<size_t>(*need) > known->bytes)
      return corruptError("constant " + std::to_string(i) + " of the plan is larger than its data");
    value.data = known->data;
    value.location = {addBuffer({.kind = BufferKind::Constant, .data = known->data, .bytes = known->bytes}), 0};
  }
  return {};
}

Status Binder::defineInputs(std::span<const InputDesc> inputs) {
  size_t index = 0;
  for (const Input &input : function.inputs) {
    if (input.value == kNoValue)
      continue;
    if (index == inputs.size())
      return internalError("binding has fewer inputs than the function");
    const InputDesc &given = inputs[index];
    BoundValue &value = values[static_cast<size_t>(input.value)];
    value.isDefined = true;
    value.desc = given.desc;
    value.scalar = given.scalar;
    auto number = static_cast<int32_t>(index++);
    if (given.scalar)
      continue;
    std::optional<Extent> extent = checkedExtent(given.desc);
    std::optional<int64_t> bytes;
    if (extent)
      bytes = checkedMul(extent->end, static_cast<int64_t>(byteSize(given.desc.dtype)));
    if (!bytes)
      return usageError("input `" + input.name + "`: sizes and strides overflow");
    value.location = {addBuffer({.kind = BufferKind::Input,
                                 .index = number,
                                 .bytes = static_cast<size_t>(*bytes),
                                 .mayOverwrite = given.mayOverwrite && given.desc.isContiguous()}),
                      0};
    // Kernels may rely on an operand's first element being its lowest one in memory.
    if (extent->begin < 0) {
      INGOT_TRY(int32_t copy, addCopy(value, {}, outputCopyStep()));
      BoundValue copied = values[static_cast<size_t>(copy)];
      values[static_cast<size_t>(input.value)] = std::move(copied);
    }
  }
  return {};
}

Status Binder::defineStates() {
  for (size_t i = 0; i < function.states.size(); ++i) {
    const State &state = function.states[i];
    const Value &type = function.values[static_cast<size_t>(state.input)];
    BoundValue &value = values[static_cast<size_t>(state.input)];
    if (state.isArgument()) {
      Buffer &buffer = buffers[static_cast<size_t>(value.location.buffer)];
      if (!value.desc.isContiguous() || buffer.kind != BufferKind::Input)
        return internalError("the argument `" + state.name + "` is written and not contiguous");
      buffer.kind = BufferKind::State;
      buffer.index = static_cast<int32_t>(i);
      continue;
    }
    value.isDefined = true;
    value.desc = TensorDesc::contiguous(type.dtype, type.shape);
    INGOT_TRY(size_t bytes, checkedBytes(value.desc));
    value.location = {addBuffer({.kind = BufferKind::State, .index = static_cast<int32_t>(i), .bytes = bytes}), 0};
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

BoundOperand Binder::operandOf(const BoundValue &value) const {
  return {.present = true, .desc = value.desc, .data = value.data, .scalar = value.scalar};
}

DraftStep copyDraft(const BoundOperand &source, Location sourceAt, Location target, const Step &reason) {
  DraftStep draft;
  draft.step = &reason;
  draft.isCopy = true;
  draft.kernel = findKernel("copy");
  draft.operands = {source};
  draft.operandAt = {sourceAt};
  TensorDesc desc = TensorDesc::contiguous(source.desc.dtype, source.desc.sizes);
  draft.resultTypes = {{ValueKind::Tensor, desc.dtype, desc.sizes}};
  draft.results = {{.desc = std::move(desc), .viewOf = -1, .viewOffset = 0, .scalar = {}}};
  draft.resultAt = {target};
  return draft;
}

/// Adds a step that copies `source` into contiguous memory; returns the new value's index.
Result<int32_t> Binder::addCopy(const BoundValue &source, Buffer target, const Step &reason) {
  BoundValue copy;
  copy.isDefined = true;
  copy.desc = TensorDesc::contiguous(source.desc.dtype, source.desc.sizes);
  INGOT_TRY(target.bytes, checkedBytes(copy.desc));
  copy.location = {addBuffer(target), 0};
  drafts.push_back(copyDraft(operandOf(source), source.location, copy.location, reason));
  values.push_back(std::move(copy));
  return static_cast<int32_t>(values.size() - 1);
}

Result<int32_t> Binder::copyConstant(const BoundValue &source) {
  BoundValue copy;
  copy.isDefined = true;
  copy.desc = TensorDesc::contiguous(source.desc.dtype, source.desc.sizes);
  INGOT_TRY(size_t bytes, checkedBytes(copy.desc));
  INGOT_TRY(copy.data, environment.contiguousConstant(source.data, source.desc));
  copy.location = {addBuffer({.kind = BufferKind::Constant, .data = copy.data, .bytes = bytes}), 0};
  values.push_back(std::move(copy));
  return static_cast<int32_t>(values.size() - 1);
}

Result<int32_t> Binder::makeContiguous(int32_t value, const Step &reason) {
  BoundValue source = values[static_cast<size_t>(value)];
  if (source.desc.isContiguous())
    return value;
  if (source.contiguousCopy >= 0)
    return source.contiguousCopy;
  bool isConstant = source.data && environment.contiguousConstant;
  INGOT_TRY(int32_t copy, isConstant ? copyConstant(source) : addCopy(source, {}, reason));
  values[static_cast<size_t>(value)].contiguousCopy = copy;
  return copy;
}

//===----------------------------------------------------------------------===//
// Shapes of every step
//===----------------------------------------------------------------------===//

Status Binder::inferSteps(std::span<const Step> steps) {
  for (const Step &step : steps)
    if (Status status = inferStep(step); !status)
      return std::move(status.error()).note("in " + stepText(step));
  return {};
}

Status Binder::inferStep(const Step &step) {
  DraftStep draft;
  draft.step = &step;
  draft.kernel = findKernel(step.kernel);
  if (draft.kernel && !draft.kernel->infer)
    return corruptError("a step of this kind cannot be planned ahead");
  if (!draft.kernel)
    return unsupportedError("this runtime has no kernel `" + step.kernel + "`");
  INGOT_CHECK(takeOperands(step, draft));
  for (ValueId id : step.results)
    draft.resultTypes.push_back(function.values[static_cast<size_t>(id)]);
  StepContext context{step, draft.resultTypes, draft.operands, environment.findSymbol};
  INGOT_TRY(draft.results, draft.kernel->infer(context));
  INGOT_CHECK(takeResults(draft));
  drafts.push_back(std::move(draft));
  return {};
}

Status Binder::takeOperands(const Step &step, DraftStep &draft) {
  for (ValueId id : step.operands) {
    if (id == kNoValue) {
      draft.operands.emplace_back();
      draft.operandAt.emplace_back();
      continue;
    }
    if (!values[static_cast<size_t>(id)].isDefined)
      return corruptError("value " + std::to_string(id) + " is used before it is defined");
    int32_t index = id;
    if (!draft.kernel->acceptsStrides && !values[static_cast<size_t>(id)].scalar) {
      INGOT_TRY(index, makeContiguous(id, step));
    }
    draft.operands.push_back(operandOf(values[static_cast<size_t>(index)]));
    draft.operandAt.push_back(values[static_cast<size_t>(index)].location);
  }
  return {};
}

Status Binder::takeResults(DraftStep &draft) {
  if (draft.results.size() != draft.resultTypes.size())
    return corruptError("the kernel has " + std::to_string(draft.results.size()) + " results, the plan says " +
                        std::to_string(draft.resultTypes.size()));
  for (size_t i = 0; i < draft.results.size(); ++i) {
    BoundValue &value = values[static_cast<size_t>(draft.step->results[i])];
    INGOT_CHECK(takeResult(draft, i, value));
    value.isDefined = true;
    draft.resultAt.push_back(value.location);
  }
  return {};
}

Status Binder::takeResult(const DraftStep &draft, size_t index, BoundValue &value) {
  const Value &type = draft.resultTypes[index];
  const ResultDesc &result = draft.results[index];
  if (type.kind == ValueKind::Scalar) {
    if (!result.scalar)
      return unsupportedError("the number is only known while the program runs, from a tensor's content");
    if (!fitsType(type, *result.scalar))
      return corruptError("the number has another type than the plan says");
    value.scalar = result.scalar;
    value.desc = TensorDesc::contiguous(type.dtype, {});
    return {};
  }
  if (result.scalar)
    return corruptError("the result is a number, the plan says a tensor");
  if (result.desc.strides.size() != result.desc.sizes.size())
    return internalError("the kernel did not describe its result");
  if (!fitsType(type, result.desc))
    return corruptError("the result is " + describe(result.desc) + ", the plan says " +
                        std::string(dtypeName(type.dtype)) + shapeText(type.shape))
        .note("the program was perhaps exported for other sizes of its inputs only");
  INGOT_TRY(size_t bytes, checkedBytes(result.desc));
  value.desc = result.desc;
  if (result.viewOf >= 0)
    return placeView(draft, result, value);
  if (bytes > 0 && !denseOrder(result.desc))
    return internalError("the kernel wants a result with gaps");
  value.location = {addBuffer({.bytes = bytes}), 0};
  return {};
}

/// Nothing that an attribute says may make a view leave its buffer.
Status Binder::placeView(const DraftStep &draft, const ResultDesc &result, BoundValue &value) const {
  auto operand = static_cast<size_t>(result.viewOf);
  if (operand >= draft.operands.size() || draft.operandAt[operand].buffer < 0)
    return internalError("the kernel's result is a view of nothing");
  value.location = draft.operandAt[operand];
  if (result.desc.numel() != 0) {
    auto bytes = static_cast<int64_t>(byteSize(result.desc.dtype));
    std::optional<Extent> extent = checkedExtent(result.desc);
    std::optional<int64_t> begin, end, shift = checkedMul(result.viewOffset, bytes);
    if (extent && shift)
      shift = checkedAdd(value.location.offset, *shift);
    if (extent && shift) {
      begin = checkedMul(extent->begin, bytes);
      end = checkedMul(extent->end, bytes);
      begin = begin ? checkedAdd(*begin, *shift) : begin;
      end = end ? checkedAdd(*end, *shift) : end;
    }
    const Buffer &buffer = buffers[static_cast<size_t>(value.location.buffer)];
    if (!begin || !end || *begin < 0 || static_cast<uint64_t>(*end) > buffer.bytes)
      return corruptError("the view reaches beyond its tensor");
    value.location.offset = *shift;
  }
  const Buffer &buffer = buffers[static_cast<size_t>(value.location.buffer)];
  if (buffer.kind == BufferKind::Constant)
    value.data = static_cast<const std::byte *>(buffer.data) + value.location.offset;
  return {};
}

//===----------------------------------------------------------------------===//
// Results of the call
//===----------------------------------------------------------------------===//

bool Binder::isWholeBuffer(const BoundValue &value) const {
  const Buffer &buffer = buffers[static_cast<size_t>(value.location.buffer)];
  Result<size_t> bytes = checkedBytes(value.desc);
  return value.desc.isContiguous() && value.location.offset == 0 && bytes && *bytes == buffer.bytes;
}

/// The buffer that holds the value at the end of the call: its own where possible, else that of a copy.
Result<int32_t> Binder::claimBuffer(int32_t value, BufferKind kind, int32_t index) {
  BoundValue source = values[static_cast<size_t>(value)];
  Buffer &buffer = buffers[static_cast<size_t>(source.location.buffer)];
  const bool isWhole = isWholeBuffer(source);
  // An input that is handed on goes back in its own memory, once.
  if (isWhole && kind == BufferKind::Output && buffer.mayOverwrite && buffer.last != INT32_MAX) {
    buffer.last = INT32_MAX;
    return source.location.buffer;
  }
  if (!isWhole || buffer.kind != BufferKind::Arena) {
    INGOT_TRY(int32_t copy, addCopy(source, {.kind = kind, .index = index}, outputCopyStep()));
    return values[static_cast<size_t>(copy)].location.buffer;
  }
  buffer.kind = kind;
  buffer.index = index;
  return source.location.buffer;
}

Status Binder::placeOutputs() {
  for (const Output &output : function.outputs) {
    if (output.value == kNoValue)
      continue;
    const BoundValue &value = values[static_cast<size_t>(output.value)];
    BoundOutput bound{.desc = TensorDesc::contiguous(value.desc.dtype, value.desc.sizes), .scalar = value.scalar};
    auto index = static_cast<int32_t>(outputs.size());
    if (!value.scalar) {
      INGOT_TRY(bound.buffer, claimBuffer(output.value, BufferKind::Output, index));
    }
    outputs.push_back(std::move(bound));
  }
  return {};
}

Status Binder::placeStates() {
  for (size_t i = 0; i < function.states.size(); ++i) {
    const State &state = function.states[i];
    const BoundValue &before = values[static_cast<size_t>(state.input)];
    const BoundValue &after = values[static_cast<size_t>(state.output)];
    if (after.desc.sizes != before.desc.sizes)
      return corruptError("state `" + state.name + "` is " + describe(before.desc) + " before the call and " +
                          describe(after.desc) + " after it");
    if (after.location == before.location && after.desc.isContiguous()) {
      buffers[static_cast<size_t>(before.location.buffer)].last = INT32_MAX;
      continue;
    }
    INGOT_CHECK(claimBuffer(state.output, BufferKind::NextState, static_cast<int32_t>(i)));
  }
  return {};
}

void Binder::keepResults() {
  std::vector<bool> isNeeded(function.values.size());
  auto need = [&](ValueId id) {
    if (id != kNoValue)
      isNeeded[static_cast<size_t>(id)] = true;
  };
  for (const Step &step : function.steps)
    std::ranges::for_each(step.operands, need);
  for (const Output &output : function.outputs)
    need(output.value);
  for (const State &state : function.states)
    need(state.output);
  int32_t count = 0;
  for (const Step &step : function.prologue) {
    for (ValueId id : step.results) {
      const BoundValue &value = values[static_cast<size_t>(id)];
      if (!isNeeded[static_cast<size_t>(id)])
        continue;
      kept.push_back({id, value.desc, value.location, value.scalar});
      if (value.scalar)
        continue;
      Buffer &buffer = buffers[static_cast<size_t>(value.location.buffer)];
      if (buffer.kind != BufferKind::Arena)
        continue;
      buffer.kind = BufferKind::Output;
      buffer.index = count++;
    }
  }
}

} // namespace ingot
