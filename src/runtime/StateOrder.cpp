// The order of steps around a change in place: who reads the old content comes first.
#include "runtime/Binder.h"
#include "runtime/TensorDesc.h"

#include <algorithm>

namespace ingot {
namespace {

class StateOrder {
public:
  StateOrder(std::vector<DraftStep> &drafts, std::vector<Buffer> &buffers) : drafts(drafts), buffers(buffers) {}

  void run() {
    for (size_t i = 0, count = buffers.size(); i < count; ++i) {
      const bool mayChange =
          (buffers[i].kind == BufferKind::State || buffers[i].mayOverwrite) && buffers[i].last != INT32_MAX;
      if (mayChange)
        visit(static_cast<int32_t>(i));
    }
  }

private:
  static constexpr int32_t kNone = -1;

  DraftStep &draftAt(int32_t draft) { return drafts[static_cast<size_t>(draft)]; }
  const Buffer &bufferAt(int32_t buffer) const { return buffers[static_cast<size_t>(buffer)]; }
  int32_t producerOf(Location place) const {
    return place.buffer < 0 ? kNone : producers[static_cast<size_t>(place.buffer)];
  }
  bool reads(int32_t draft) {
    return draftAt(draft).needsKernel() &&
           std::ranges::any_of(draftAt(draft).operandAt, [&](Location at) { return at.buffer == old; });
  }
  bool isChanger(int32_t draft) const { return std::ranges::find(changers, draft) != changers.end(); }

  void findProducers() {
    producers.assign(buffers.size(), kNone);
    for (size_t i = 0; i < drafts.size(); ++i)
      for (size_t r = 0; drafts[i].needsKernel() && r < drafts[i].results.size(); ++r)
        if (drafts[i].results[r].viewOf < 0 && drafts[i].resultAt[r].buffer >= 0)
          producers[static_cast<size_t>(drafts[i].resultAt[r].buffer)] = static_cast<int32_t>(i);
  }

  /// The operand that a step changes in place, if it is in this buffer or, for kNone, in any that it may write over.
  int32_t changedOperand(int32_t draft, int32_t buffer) {
    const DraftStep &step = draftAt(draft);
    for (size_t i = 0; i < step.operands.size(); ++i) {
      const Location at = step.operandAt[i];
      if (!step.mayWriteOver(i) || at.buffer < 0 || (buffer != kNone && at.buffer != buffer))
        continue;
      if (buffer == kNone && bufferAt(at.buffer).kind != BufferKind::Arena)
        continue;
      if (sameLayout(step.operands[i].desc, step.results[0].desc))
        return static_cast<int32_t>(i);
    }
    return kNone;
  }

  /// Follows the new value back to the old one. All that changes it on the way is in `changers`.
  bool findChangers(int32_t next) {
    changers.clear();
    int32_t step = producers[static_cast<size_t>(next)];
    const int32_t last = step;
    while (step != kNone) {
      changers.push_back(step);
      if (changedOperand(step, old) != kNone) {
        addInner(step);
        return true;
      }
      const int32_t operand = changedOperand(step, kNone);
      step = operand == kNone ? kNone : producerOf(draftAt(step).operandAt[static_cast<size_t>(operand)]);
    }
    // Not made from the old value: it may still come into its memory.
    changers = {last};
    return last != kNone && bufferAt(old).kind == BufferKind::State;
  }

  /// A slice that is changed and put back is changed where it is.
  void addInner(int32_t step) {
    while (std::string_view(draftAt(step).kernel->name) == "insert_slice") {
      step = producerOf(draftAt(step).operandAt[1]);
      if (step == kNone || changedOperand(step, old) == kNone)
        return;
      changers.push_back(step);
    }
  }

  void visit(int32_t buffer) {
    old = buffer;
    findProducers();
    for (size_t i = 0; i < producers.size(); ++i) {
      const Buffer &next = buffers[i];
      const bool isNext = bufferAt(old).kind == BufferKind::State
                              ? next.kind == BufferKind::NextState && next.index == bufferAt(old).index
                              : next.kind == BufferKind::Output && next.bytes == bufferAt(old).bytes;
      if (isNext && findChangers(static_cast<int32_t>(i))) {
        reorder(*std::ranges::min_element(changers));
        return;
      }
    }
  }

  void reorder(int32_t change) {
    const auto count = static_cast<int32_t>(drafts.size());
    findDependents(change);
    std::vector<bool> moves(drafts.size());
    std::vector<DraftStep> copies;
    for (int32_t i = change; i < count; ++i) {
      if (!reads(i))
        continue;
      if (!isChanger(i) && canMove(i, change))
        markMoved(i, change, moves);
      else
        copyParts(i, copies);
    }
    std::vector<DraftStep> ordered;
    auto take = [&](int32_t from, int32_t to, bool moved) {
      for (int32_t i = from; i < to; ++i)
        if (moves[static_cast<size_t>(i)] == moved)
          ordered.push_back(std::move(draftAt(i)));
    };
    take(0, change, false);
    std::ranges::move(copies, std::back_inserter(ordered));
    take(change, count, true);
    take(change, count, false);
    drafts = std::move(ordered);
  }

  /// Steps that need something of `change`, or that must stay where they are: random numbers are drawn in order.
  void findDependents(int32_t change) {
    depends.assign(drafts.size(), false);
    for (size_t i = static_cast<size_t>(change); i < drafts.size(); ++i) {
      bool isFixed = static_cast<int32_t>(i) == change || drafts[i].step->kernel.starts_with("random");
      for (Location at : drafts[i].operandAt)
        isFixed = isFixed || (producerOf(at) != kNone && depends[static_cast<size_t>(producerOf(at))]);
      depends[i] = isFixed;
    }
  }

  bool canMove(int32_t draft, int32_t change) const { return draft > change && !depends[static_cast<size_t>(draft)]; }

  void markMoved(int32_t draft, int32_t change, std::vector<bool> &moves) {
    std::vector<int32_t> work = {draft};
    while (!work.empty()) {
      const int32_t next = work.back();
      work.pop_back();
      if (next <= change || moves[static_cast<size_t>(next)])
        continue;
      moves[static_cast<size_t>(next)] = true;
      for (Location at : draftAt(next).operandAt)
        work.push_back(producerOf(at));
    }
  }

  /// Lets a step read a copy of the part it needs, where that is cheaper than a second state.
  void copyParts(int32_t draft, std::vector<DraftStep> &copies) {
    const int32_t changed = isChanger(draft) ? changedOperand(draft, old) : kNone;
    for (size_t i = 0; i < draftAt(draft).operands.size(); ++i) {
      DraftStep &step = draftAt(draft);
      if (step.operandAt[i].buffer != old || static_cast<int32_t>(i) == changed)
        continue;
      Result<size_t> bytes = checkedBytes(step.operands[i].desc);
      if (!bytes || *bytes > bufferAt(old).bytes / 2)
        continue;
      buffers.push_back({.bytes = *bytes});
      producers.push_back(kNone);
      const Location place{static_cast<int32_t>(buffers.size() - 1), 0};
      copies.push_back(copyDraft(step.operands[i], step.operandAt[i], place, *step.step));
      step.operandAt[i] = place;
      step.operands[i].desc = TensorDesc::contiguous(step.operands[i].desc.dtype, step.operands[i].desc.sizes);
    }
  }

  std::vector<DraftStep> &drafts;
  std::vector<Buffer> &buffers;
  std::vector<int32_t> producers; ///< buffer -> the step that writes it
  std::vector<int32_t> changers;  ///< steps that change the state, last first
  std::vector<bool> depends;
  int32_t old = kNone; ///< the buffer that is changed
};

} // namespace

void readBeforeWriting(std::vector<DraftStep> &drafts, std::vector<Buffer> &buffers) {
  StateOrder(drafts, buffers).run();
}

} // namespace ingot
