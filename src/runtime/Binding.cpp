#include "runtime/Binding.h"

#include "runtime/Binder.h"
#include "runtime/MemoryPlan.h"

#include <algorithm>
#include <numeric>

namespace ingot {

//===----------------------------------------------------------------------===//
// The last phases of binding: lifetimes, kernels, addresses
//===----------------------------------------------------------------------===//

void Binder::recordUses() {
  alias.resize(buffers.size());
  std::iota(alias.begin(), alias.end(), 0);
  for (Buffer &buffer : buffers)
    if (buffer.kind == BufferKind::Output || buffer.kind == BufferKind::NextState)
      buffer.last = INT32_MAX;
  for (size_t i = 0; i < drafts.size(); ++i) {
    for (const std::vector<Location> *places : {&drafts[i].operandAt, &drafts[i].resultAt}) {
      for (Location at : *places) {
        if (at.buffer < 0)
          continue;
        Buffer &buffer = buffers[static_cast<size_t>(at.buffer)];
        buffer.last = std::max(buffer.last, static_cast<int32_t>(i));
      }
    }
  }
}

Status Binder::bindKernels(Binding &binding) {
  auto resolve = [&](std::vector<Location> places) {
    for (Location &at : places)
      while (at.buffer >= 0 && alias[static_cast<size_t>(at.buffer)] != at.buffer)
        at.buffer = alias[static_cast<size_t>(at.buffer)];
    return places;
  };
  for (size_t i = 0; i < drafts.size(); ++i) {
    const DraftStep &draft = drafts[i];
    if (!draft.needsKernel())
      continue;
    if (!draft.kernel->bind)
      return internalError("kernel `" + std::string(draft.kernel->name) + "` cannot run");
    StepContext context{*draft.step, draft.resultTypes, draft.operands, environment.findSymbol};
    std::vector<TensorDesc> descs;
    for (const ResultDesc &result : draft.results)
      descs.push_back(result.desc);
    Result<std::unique_ptr<BoundKernel>> kernel = draft.kernel->bind(context, descs);
    if (!kernel)
      return std::move(kernel.error()).note("in " + stepText(*draft.step));
    BoundStep bound{draft.step, *std::move(kernel), resolve(draft.operandAt), resolve(draft.resultAt), {}};
    if (size_t bytes = bound.kernel->scratchBytes()) {
      buffers.push_back({.bytes = bytes, .first = static_cast<int32_t>(i), .last = static_cast<int32_t>(i)});
      alias.push_back(static_cast<int32_t>(buffers.size() - 1));
      bound.scratch = {alias.back(), 0};
    }
    binding.maxPointers = std::max(binding.maxPointers, bound.operands.size() + bound.results.size());
    binding.boundSteps.push_back(std::move(bound));
  }
  return {};
}

Status Binder::placeArena(Binding &binding) {
  std::vector<BufferLife> lives;
  std::vector<size_t> owners;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].kind != BufferKind::Arena || alias[i] != static_cast<int32_t>(i))
      continue;
    lives.push_back({buffers[i].bytes, buffers[i].first, buffers[i].last});
    owners.push_back(i);
  }
  INGOT_TRY(MemoryPlan plan, planMemory(lives));
  for (size_t i = 0; i < owners.size(); ++i)
    buffers[owners[i]].offset = plan.offsets[i];
  binding.arenaSize = plan.arenaBytes;
  binding.unsharedSize = plan.totalBytes;
  return {};
}

Result<std::shared_ptr<const Binding>> Binder::finish() {
  auto binding = std::make_shared<Binding>();
  recordUses();
  shareInPlace(drafts, buffers, alias);
  INGOT_CHECK(bindKernels(*binding));
  INGOT_CHECK(placeArena(*binding));
  for (BoundOutput &output : outputs)
    while (output.buffer >= 0 && alias[static_cast<size_t>(output.buffer)] != output.buffer)
      output.buffer = alias[static_cast<size_t>(output.buffer)];
  for (KeptValue &value : kept)
    while (value.location.buffer >= 0 && alias[static_cast<size_t>(value.location.buffer)] != value.location.buffer)
      value.location.buffer = alias[static_cast<size_t>(value.location.buffer)];
  for (size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i].kind == BufferKind::NextState && alias[i] == static_cast<int32_t>(i))
      binding->nextStates.push_back(buffers[i].index);
  binding->allBuffers = std::move(buffers);
  binding->boundOutputs = std::move(outputs);
  binding->keptValues = std::move(kept);
  return std::shared_ptr<const Binding>(std::move(binding));
}

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

Result<std::shared_ptr<const Binding>> Binding::bind(const BindEnvironment &environment,
                                                     std::span<const InputDesc> inputs) {
  Binder binder(environment);
  INGOT_CHECK(binder.defineKnown());
  INGOT_CHECK(binder.defineInputs(inputs));
  INGOT_CHECK(binder.defineStates());
  INGOT_CHECK(binder.inferSteps(environment.function.steps));
  INGOT_CHECK(binder.placeOutputs());
  INGOT_CHECK(binder.placeStates());
  return binder.finish();
}

Result<std::shared_ptr<const Binding>> Binding::bindPrologue(const BindEnvironment &environment) {
  Binder binder(environment);
  INGOT_CHECK(binder.defineKnown());
  INGOT_CHECK(binder.inferSteps(environment.function.prologue));
  binder.keepResults();
  return binder.finish();
}

void Binding::placeBuffers(std::byte *arena, std::span<std::byte *> bases) const {
  for (size_t i = 0; i < allBuffers.size(); ++i) {
    const Buffer &buffer = allBuffers[i];
    if (buffer.kind == BufferKind::Arena)
      bases[i] = arena + buffer.offset;
    else if (buffer.kind == BufferKind::Constant)
      bases[i] = const_cast<std::byte *>(static_cast<const std::byte *>(buffer.data));
  }
}

Status Binding::run(std::span<std::byte *const> bases) const {
  auto addressOf = [&](Location at) -> void * {
    return at.buffer < 0 ? nullptr : bases[static_cast<size_t>(at.buffer)] + at.offset;
  };
  thread_local std::vector<void *> pointers;
  // A kernel may call into another program on this thread; it must not find our pointers.
  std::vector<void *> mine = std::move(pointers);
  mine.resize(std::max(mine.size(), maxPointers));
  Status status;
  for (const BoundStep &step : boundSteps) {
    size_t count = 0;
    for (Location at : step.operands)
      mine[count++] = addressOf(at);
    for (Location at : step.results)
      mine[count++] = addressOf(at);
    std::span<void *const> all(mine.data(), count);
    KernelArgs args{all.first(step.operands.size()), all.subspan(step.operands.size()), addressOf(step.scratch)};
    if (status = step.kernel->run(args); !status) {
      status = std::move(status.error()).note("in " + stepText(*step.step));
      break;
    }
  }
  pointers = std::move(mine);
  return status;
}

std::string stepText(const Step &step) {
  std::string text = "`" + step.kernel + "`";
  if (step.node.empty() && step.source.empty())
    return text;
  text += " (";
  if (!step.node.empty())
    text += "node `" + step.node + "`";
  if (!step.source.empty())
    text += (step.node.empty() ? "" : ", ") + step.source;
  return text + ")";
}

} // namespace ingot
