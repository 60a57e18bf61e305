#include "runtime/Binding.h"
#include "runtime/Cancel.h"

#include "runtime/Binder.h"
#include "runtime/MemoryPlan.h"

#include <algorithm>

namespace ingot {

//===----------------------------------------------------------------------===//
// The last phases of binding: lifetimes, kernels, addresses
//===----------------------------------------------------------------------===//

void Binder::recordUses() {
  for (Buffer &buffer : buffers) {
    alias.push_back({static_cast<int32_t>(alias.size()), 0});
    bool isFromOutside = buffer.kind == BufferKind::Input || buffer.kind == BufferKind::State;
    buffer.first = isFromOutside ? 0 : INT32_MAX;
    if (buffer.kind == BufferKind::Output || buffer.kind == BufferKind::NextState)
      buffer.last = INT32_MAX;
    else if (buffer.last != INT32_MAX)
      buffer.last = -1;
  }
  for (size_t i = 0; i < drafts.size(); ++i) {
    if (!drafts[i].needsKernel())
      continue; // a view reads nothing; those who read through it have its place
    for (const std::vector<Location> *places : {&drafts[i].operandAt, &drafts[i].resultAt}) {
      for (Location at : *places) {
        if (at.buffer < 0)
          continue;
        Buffer &buffer = buffers[static_cast<size_t>(at.buffer)];
        buffer.first = std::min(buffer.first, static_cast<int32_t>(i));
        buffer.last = std::max(buffer.last, static_cast<int32_t>(i));
      }
    }
  }
  for (Buffer &buffer : buffers) { // what no step touches, such as a value without elements
    if (buffer.kind != BufferKind::State)
      buffer.last = std::max(buffer.last, 0);
    buffer.first = std::min(buffer.first, buffer.last);
  }
}

Status Binder::bindKernels(Binding &binding) {
  auto resolveAll = [&](std::vector<Location> places) {
    for (Location &at : places)
      at = resolve(alias, at);
    return places;
  };
  for (size_t i = 0; i < drafts.size(); ++i) {
    const DraftStep &draft = drafts[i];
    if (!draft.needsKernel())
      continue;
    if (!draft.kernel->bind)
      return internalError("kernel `" + std::string(draft.kernel->name) + "` cannot run");
    StepContext context{*draft.step, draft.resultTypes, draft.operands, environment.findSymbol, environment.precision};
    std::string problem;
    if (draft.kernel->hasMethods && environment.methods) {
      problem = problemText(*draft.step, draft.operands, environment.precision);
      context.method = environment.methods->find(problem);
    }
    std::vector<TensorDesc> descs;
    for (const ResultDesc &result : draft.results)
      descs.push_back(result.desc);
    Result<std::unique_ptr<BoundKernel>> kernel = draft.kernel->bind(context, descs);
    if (!kernel)
      return std::move(kernel.error()).note("in " + stepText(*draft.step));
    BoundStep bound{draft.step,
                    *std::move(kernel),
                    resolveAll(draft.operandAt),
                    resolveAll(draft.resultAt),
                    {},
                    workOf(*draft.step, draft.operands, draft.results)};
    bound.work.isCopy = draft.isCopy;
    bound.work.reorders = draft.isCopy ? 1 : bound.kernel->reorders();
    bound.work.problem = std::move(problem);
    bound.work.method = bound.kernel->method();
    if (size_t bytes = bound.kernel->scratchBytes()) {
      buffers.push_back({.bytes = bytes, .first = static_cast<int32_t>(i), .last = static_cast<int32_t>(i)});
      alias.push_back({static_cast<int32_t>(buffers.size() - 1), 0});
      bound.scratch = alias.back();
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
    if (buffers[i].kind != BufferKind::Arena || alias[i].buffer != static_cast<int32_t>(i))
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
  readBeforeWriting(drafts, buffers);
  recordUses();
  shareInPlace(drafts, buffers, alias);
  INGOT_CHECK(bindKernels(*binding));
  INGOT_CHECK(placeArena(*binding));
  for (BoundOutput &output : outputs)
    output.buffer = resolve(alias, {output.buffer, 0}).buffer;
  for (KeptValue &value : kept)
    value.location = resolve(alias, value.location);
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (alias[i].buffer != static_cast<int32_t>(i))
      buffers[i] = {}; // nobody refers to it any more, so that it needs no memory
    else if (buffers[i].kind == BufferKind::NextState)
      binding->nextStates.push_back(static_cast<int32_t>(i));
  }
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
  // A value that is both becomes the state in place, and is copied out once.
  INGOT_CHECK(binder.placeStates());
  INGOT_CHECK(binder.placeOutputs());
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
  StepProfile *profile = StepProfile::current();
  for (const BoundStep &step : boundSteps) {
    if (status = CancelScope::check(); !status)
      break;
    size_t count = 0;
    for (Location at : step.operands)
      mine[count++] = addressOf(at);
    for (Location at : step.results)
      mine[count++] = addressOf(at);
    std::span<void *const> all(mine.data(), count);
    KernelArgs args{all.first(step.operands.size()), all.subspan(step.operands.size()), addressOf(step.scratch)};
    const auto begin = profile ? StepProfile::Clock::now() : StepProfile::Clock::time_point();
    status = step.kernel->run(args);
    if (profile)
      profile->add(*step.step, step.work, begin);
    if (!status) {
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
