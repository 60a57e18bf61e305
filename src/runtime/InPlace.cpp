#include "runtime/Binder.h"
#include "runtime/TensorDesc.h"
#include "runtime/kernels/view/View.h"

#include <algorithm>
#include <array>

namespace ingot {

bool sameLayout(const TensorDesc &a, const TensorDesc &b) {
  if (a.dtype != b.dtype || a.sizes != b.sizes)
    return false;
  for (size_t i = 0; i < a.sizes.size(); ++i)
    if (a.sizes[i] != 1 && a.strides[i] != b.strides[i])
      return false;
  return true;
}

Location resolve(std::span<const Location> alias, Location at) {
  while (at.buffer >= 0 && alias[static_cast<size_t>(at.buffer)].buffer != at.buffer) {
    const Location &to = alias[static_cast<size_t>(at.buffer)];
    at = {to.buffer, at.offset + to.offset};
  }
  return at;
}

namespace {

/// Whether element i of an operand may be read after element i of the result is written: then an operand that is written
/// over must not be another operand as well.
bool readsLate(const KernelDef &kernel) {
  static constexpr std::array<std::string_view, 3> names = {"index_put", "insert_slice", "scatter"};
  return std::ranges::find(names, kernel.name) != names.end();
}

class InPlace {
public:
  InPlace(std::span<const DraftStep> drafts, std::vector<Buffer> &buffers, std::vector<Location> &alias)
      : drafts(drafts), buffers(buffers), alias(alias), producers(buffers.size(), -1) {}

  void run() {
    for (size_t i = 0; i < drafts.size(); ++i)
      for (size_t r = 0; r < drafts[i].results.size(); ++r)
        if (drafts[i].needsKernel() && drafts[i].results[r].viewOf < 0 && drafts[i].resultAt[r].buffer >= 0)
          producers[static_cast<size_t>(drafts[i].resultAt[r].buffer)] = static_cast<int32_t>(i);
    for (size_t i = 0; i < drafts.size(); ++i)
      if (drafts[i].kernel->inPlaceOperands && drafts[i].needsKernel())
        visit(static_cast<int32_t>(i));
    joinStates();
  }

private:
  Location at(Location place) const { return resolve(alias, place); }
  Buffer &bufferAt(int32_t buffer) const { return buffers[static_cast<size_t>(buffer)]; }
  const DraftStep &draftAt(int32_t draft) const { return drafts[static_cast<size_t>(draft)]; }

  void visit(int32_t now) {
    const DraftStep &draft = draftAt(now);
    for (size_t i = 0; i < draft.operands.size(); ++i) {
      if (!canReplace(draft, i, now))
        continue;
      const int32_t root = at(draft.operandAt[i]).buffer;
      merge(draft.resultAt[0].buffer, {root, 0});
      writeThrough(now, root);
      return;
    }
  }

  /// Whether the kernel may put its result where the operand is, as far as the step itself goes.
  bool fits(const DraftStep &draft, size_t operand) const {
    const Location place = at(draft.operandAt[operand]);
    if (!draft.mayWriteOver(operand) || place.buffer < 0)
      return false;
    const ResultDesc &result = draft.results[0];
    return !result.scalar && result.viewOf < 0 && result.mayOverwrite &&
           sameLayout(draft.operands[operand].desc, result.desc) && noOtherView(draft, operand, place.buffer);
  }

  bool canReplace(const DraftStep &draft, size_t operand, int32_t now) const {
    if (!fits(draft, operand))
      return false;
    const Location place = at(draft.operandAt[operand]);
    const Buffer &old = bufferAt(place.buffer);
    const Buffer &fresh = bufferAt(draft.resultAt[0].buffer);
    return place.offset == 0 && old.bytes == fresh.bytes && old.last == now && canHold(old, fresh);
  }

  /// Whether the memory of `old` may hold what `fresh` is for.
  static bool canHold(const Buffer &old, const Buffer &fresh) {
    if (old.kind == BufferKind::Arena)
      return true; // takes over the fresh one's kind
    if (old.kind == BufferKind::Input)
      return old.mayOverwrite && (fresh.kind == BufferKind::Arena || fresh.kind == BufferKind::Output);
    if (old.kind != BufferKind::State)
      return false;
    return fresh.kind == BufferKind::Arena || (fresh.kind == BufferKind::NextState && fresh.index == old.index);
  }

  /// A kernel reads element i before it writes element i, which does not help an operand that sees the
  /// same memory in another order.
  bool noOtherView(const DraftStep &draft, size_t operand, int32_t root) const {
    for (size_t i = 0; i < draft.operands.size(); ++i) {
      if (i == operand || at(draft.operandAt[i]).buffer != root)
        continue;
      if (readsLate(*draft.kernel) || at(draft.operandAt[i]) != at(draft.operandAt[operand]) ||
          !sameLayout(draft.operands[i].desc, draft.operands[operand].desc))
        return false;
    }
    return true;
  }

  void merge(int32_t fresh, Location into) {
    Buffer &kept = bufferAt(into.buffer);
    const Buffer &gone = bufferAt(fresh);
    if (kept.kind == BufferKind::Arena) {
      kept.kind = gone.kind;
      kept.index = gone.index;
    }
    kept.first = std::min(kept.first, gone.first);
    kept.last = std::max(kept.last, gone.last);
    alias[static_cast<size_t>(fresh)] = into;
  }

  /// `cache[1, :, p] = x` comes as: a slice of the cache, changed, and put back. Where the slice is one block of memory
  /// and nobody else looks at the cache meanwhile, it is changed in the cache itself, and putting it back does nothing.
  void writeThrough(int32_t now, int32_t root) {
    const DraftStep &draft = draftAt(now);
    if (std::string_view(draft.kernel->name) != "insert_slice")
      return;
    const Location source = at(draft.operandAt[1]);
    const int32_t made = source.buffer < 0 ? -1 : producers[static_cast<size_t>(source.buffer)];
    if (made < 0 || source.buffer == root || bufferAt(source.buffer).kind != BufferKind::Arena)
      return;
    const DraftStep &producer = draftAt(made);
    // All of it: what is beside the slice must not be changed.
    if (producer.results[0].desc.numel() != draft.operands[1].desc.numel())
      return;
    for (size_t i = 0; i < producer.operands.size(); ++i) {
      const Location slice = at(producer.operandAt[i]);
      if (slice.buffer != root || producer.resultAt[0].buffer != source.buffer || !fits(producer, i) ||
          isReadBetween(root, made, now) || !isRegion(draft, {root, slice.offset + source.offset}))
        continue;
      merge(source.buffer, slice);
      writeThrough(made, root);
      return;
    }
  }

  bool isReadBetween(int32_t root, int32_t from, int32_t to) const {
    for (int32_t i = from + 1; i < to; ++i)
      if (draftAt(i).needsKernel() &&
          std::ranges::any_of(draftAt(i).operandAt, [&](Location place) { return at(place).buffer == root; }))
        return true;
    return false;
  }

  /// Whether the source of an insert_slice would be the very memory that it is put into, if it were at `place`.
  static bool isRegion(const DraftStep &draft, Location place, Location target) {
    const TensorDesc &x = draft.operands[0].desc;
    StepContext context{*draft.step, draft.resultTypes, draft.operands, {}};
    Result<SliceRange> range = sliceRange(context, x, 2);
    if (!range || place.buffer != target.buffer)
      return false;
    TensorDesc region = x;
    const auto axis = static_cast<size_t>(range->axis);
    region.sizes[axis] = range->count;
    region.strides[axis] = x.strides[axis] * range->step;
    const int64_t begin = range->start * x.strides[axis] * static_cast<int64_t>(byteSize(x.dtype));
    return target.offset + begin == place.offset && sameLayout(region, draft.operands[1].desc);
  }

  bool isRegion(const DraftStep &draft, Location place) const { return isRegion(draft, place, at(draft.operandAt[0])); }

  /// A state whose old content nobody needs any more when the new one comes gets it where it is.
  void joinStates() {
    for (size_t next = 0; next < buffers.size(); ++next) {
      if (buffers[next].kind != BufferKind::NextState || alias[next].buffer != static_cast<int32_t>(next))
        continue;
      for (size_t state = 0; state < buffers.size(); ++state)
        if (buffers[state].kind == BufferKind::State && buffers[state].index == buffers[next].index &&
            buffers[state].bytes == buffers[next].bytes && buffers[state].last < buffers[next].first)
          merge(static_cast<int32_t>(next), {static_cast<int32_t>(state), 0});
    }
  }

  std::span<const DraftStep> drafts;
  std::vector<Buffer> &buffers;
  std::vector<Location> &alias;
  std::vector<int32_t> producers; ///< buffer -> the step that writes it
};

} // namespace

void shareInPlace(std::span<const DraftStep> drafts, std::vector<Buffer> &buffers, std::vector<Location> &alias) {
  InPlace(drafts, buffers, alias).run();
}

} // namespace ingot
