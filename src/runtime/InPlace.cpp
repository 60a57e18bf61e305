#include "runtime/Binder.h"

#include <algorithm>

namespace ingot {
namespace {

class InPlace {
public:
  InPlace(std::span<const DraftStep> drafts, std::vector<Buffer> &buffers, std::vector<int32_t> &alias)
      : drafts(drafts), buffers(buffers), alias(alias) {}

  void run() {
    for (size_t i = 0; i < drafts.size(); ++i)
      if (drafts[i].kernel->inPlaceOperands && !drafts[i].isCopy && drafts[i].needsKernel())
        visit(drafts[i], static_cast<int32_t>(i));
  }

private:
  int32_t rootOf(int32_t buffer) const {
    while (buffer >= 0 && alias[static_cast<size_t>(buffer)] != buffer)
      buffer = alias[static_cast<size_t>(buffer)];
    return buffer;
  }

  void visit(const DraftStep &draft, int32_t now) {
    for (size_t i = 0; i < draft.operands.size() && i < 32; ++i) {
      bool isAllowed = (draft.kernel->inPlaceOperands >> i) & 1;
      if (isAllowed && canReplace(draft, i, now)) {
        merge(rootOf(draft.operandAt[i].buffer), draft.resultAt[0].buffer);
        return;
      }
    }
  }

  static bool sameLayout(const TensorDesc &a, const TensorDesc &b) {
    return a.sizes == b.sizes && a.strides == b.strides;
  }

  bool canReplace(const DraftStep &draft, size_t operand, int32_t now) const {
    const ResultDesc &result = draft.results[0];
    const BoundOperand &given = draft.operands[operand];
    int32_t root = rootOf(draft.operandAt[operand].buffer);
    if (root < 0 || result.scalar || result.viewOf >= 0 || !result.mayOverwrite ||
        given.desc.dtype != result.desc.dtype)
      return false;
    const Buffer &old = buffers[static_cast<size_t>(root)];
    const Buffer &fresh = buffers[static_cast<size_t>(draft.resultAt[0].buffer)];
    bool coversBuffer = draft.operandAt[operand].offset == 0 && old.bytes == fresh.bytes;
    if (!coversBuffer || old.last != now || !sameLayout(given.desc, result.desc) || !canHold(old, fresh))
      return false;
    return noOtherView(draft, operand, root);
  }

  /// Whether the memory of `old` may hold what `fresh` is for.
  static bool canHold(const Buffer &old, const Buffer &fresh) {
    if (old.kind == BufferKind::Arena)
      return true; // takes over the fresh one's kind
    if (old.kind != BufferKind::State)
      return false;
    return fresh.kind == BufferKind::Arena || (fresh.kind == BufferKind::NextState && fresh.index == old.index);
  }

  /// A kernel reads element i before it writes element i, which does not help an operand that sees the
  /// same memory in another order.
  bool noOtherView(const DraftStep &draft, size_t operand, int32_t root) const {
    for (size_t i = 0; i < draft.operands.size(); ++i) {
      if (i == operand || rootOf(draft.operandAt[i].buffer) != root)
        continue;
      if (draft.operandAt[i].offset != 0 || !sameLayout(draft.operands[i].desc, draft.operands[operand].desc))
        return false;
    }
    return true;
  }

  void merge(int32_t old, int32_t fresh) {
    Buffer &kept = buffers[static_cast<size_t>(old)];
    const Buffer &gone = buffers[static_cast<size_t>(fresh)];
    if (kept.kind == BufferKind::Arena) {
      kept.kind = gone.kind;
      kept.index = gone.index;
    }
    kept.last = std::max(kept.last, gone.last);
    alias[static_cast<size_t>(fresh)] = old;
  }

  std::span<const DraftStep> drafts;
  std::vector<Buffer> &buffers;
  std::vector<int32_t> &alias;
};

} // namespace

void shareInPlace(std::span<const DraftStep> drafts, std::vector<Buffer> &buffers, std::vector<int32_t> &alias) {
  InPlace(drafts, buffers, alias).run();
}

} // namespace ingot
