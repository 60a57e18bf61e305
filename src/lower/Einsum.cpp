// einsum, as products of two operands at a time: labels of both that the result does not need are
// the inner dimension of a matrix product, those that it needs are its batch.
#include "lower/Lowering.h"

using namespace mlir;

namespace ingot::lower {

namespace {

/// Labels are letters; the dimensions of an ellipsis are numbered from the right, from kEllipsis on.
using Labels = SmallVector<int, 6>;
constexpr int kEllipsis = 256;

struct Term {
  Value value;
  Labels labels;

  int64_t axisOf(int label) const { return llvm::find(labels, label) - labels.begin(); }
  bool has(int label) const { return llvm::is_contained(labels, label); }
};

class Einsum {
public:
  explicit Einsum(LowerContext &ctx) : ctx(ctx) {}

  LogicalResult run();

private:
  bool parseSide(StringRef text, std::optional<int64_t> rank, Labels &labels);
  void takeDiagonals(Term &term);
  bool parse();
  bool defaultOutput();
  bool isNeededLater(int label, size_t from) const;
  void sumOut(Term &term, size_t from);
  Value arrange(const Term &term, ArrayRef<int> order);
  Value group(Value x, ArrayRef<size_t> counts);
  Term multiply(const Term &a, const Term &b, size_t from);

  LowerContext &ctx;
  SmallVector<Term> terms;
  Labels output;
  Labels repeated; ///< in one term: summed over unless the equation says otherwise
  int64_t ellipsisRank = 0;
};

/// "b...ij"; `rank` is the operand's, absent for the result.
bool Einsum::parseSide(StringRef text, std::optional<int64_t> rank, Labels &labels) {
  size_t dots = text.find("...");
  int64_t letters = 0;
  for (char c : text)
    letters += std::isalpha(static_cast<unsigned char>(c)) != 0;
  int64_t hidden = rank ? *rank - letters : ellipsisRank;
  if (hidden < 0 || (dots == StringRef::npos && rank && hidden != 0))
    return false;
  for (size_t i = 0; i < text.size();) {
    if (i == dots) {
      for (int64_t j = hidden; j > 0; --j)
        labels.push_back(kEllipsis + static_cast<int>(j) - 1);
      ellipsisRank = std::max(ellipsisRank, hidden);
      i += 3;
    } else if (std::isalpha(static_cast<unsigned char>(text[i]))) {
      labels.push_back(text[i++]);
    } else {
      return false;
    }
  }
  return true;
}

/// A label that a term has twice stands for the diagonal of its two dimensions.
void Einsum::takeDiagonals(Term &term) {
  for (size_t i = 0; i < term.labels.size(); ++i)
    for (size_t j = i + 1; j < term.labels.size();) {
      if (term.labels[i] != term.labels[j]) {
        ++j;
        continue;
      }
      int label = term.labels[i];
      SmallVector<int64_t> order;
      for (size_t axis = 0; axis < term.labels.size(); ++axis)
        if (axis != i && axis != j)
          order.push_back(static_cast<int64_t>(axis));
      llvm::append_range(order, SmallVector<int64_t>{static_cast<int64_t>(i), static_cast<int64_t>(j)});
      Value x = ctx.permute(term.value, order);
      Sizes sizes = ctx.sizes(x);
      Size columns = sizes.pop_back_val(), rows = sizes.pop_back_val();
      sizes.push_back(ctx.times(rows, columns));
      Value step = ctx.constant(Number::of(ctx.plus(columns, 1)), ctx.i64());
      Value positions = ctx.binary<MulOp>(ctx.iota(ctx.smaller(rows, columns)), step);
      int64_t last = static_cast<int64_t>(sizes.size()) - 1;
      term.value = ctx.indexSelect(ctx.reshape(x, sizes), positions, last);
      repeated.push_back(label);
      term.labels.erase(term.labels.begin() + static_cast<ptrdiff_t>(j));
      term.labels.erase(term.labels.begin() + static_cast<ptrdiff_t>(i));
      term.labels.push_back(label);
      // The dimension has moved to the end; what took its place is looked at anew.
      j = i + 1;
    }
}

/// Labels that occur once, in the order of the alphabet, after the dimensions of the ellipsis.
bool Einsum::defaultOutput() {
  for (int64_t j = ellipsisRank; j > 0; --j)
    output.push_back(kEllipsis + static_cast<int>(j) - 1);
  for (int label = 0; label < kEllipsis; ++label)
    if (llvm::count_if(terms, [&](const Term &term) { return term.has(label); }) == 1 &&
        !llvm::is_contained(repeated, label))
      output.push_back(label);
  return true;
}

bool Einsum::parse() {
  std::string equation = ctx.string("equation").str();
  llvm::erase(equation, ' ');
  auto [inputs, result] = StringRef(equation).split("->");
  SmallVector<StringRef> sides;
  inputs.split(sides, ',');
  SmallVector<Value> tensors = ctx.tensors("tensors");
  if (sides.size() != tensors.size() || tensors.empty())
    return false;
  for (auto [side, tensor] : llvm::zip_equal(sides, tensors)) {
    Term term{tensor, {}};
    if (!tensor || !parseSide(side, rankOf(tensor), term.labels))
      return false;
    takeDiagonals(term);
    terms.push_back(term);
  }
  if (!StringRef(equation).contains("->"))
    return defaultOutput();
  if (!parseSide(result, std::nullopt, output))
    return false;
  Labels sorted = output;
  llvm::sort(sorted);
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    return false;
  return llvm::all_of(
      output, [&](int label) { return llvm::any_of(terms, [&](const Term &term) { return term.has(label); }); });
}

bool Einsum::isNeededLater(int label, size_t from) const {
  return llvm::is_contained(output, label) ||
         llvm::any_of(ArrayRef(terms).drop_front(from), [&](const Term &term) { return term.has(label); });
}

/// Sums over labels that nothing after `from` needs.
void Einsum::sumOut(Term &term, size_t from) {
  SmallVector<int64_t> dims;
  Labels kept;
  for (auto [axis, label] : llvm::enumerate(term.labels)) {
    if (isNeededLater(label, from))
      kept.push_back(label);
    else
      dims.push_back(static_cast<int64_t>(axis));
  }
  term.value = ctx.dropDims(ctx.reduce(ReduceKind::Sum, term.value, dims), dims);
  term.labels = kept;
}

/// The dimensions in the order of `order`; labels the term lacks get size 1.
Value Einsum::arrange(const Term &term, ArrayRef<int> order) {
  SmallVector<int64_t> dims;
  for (int label : order)
    if (term.has(label))
      dims.push_back(term.axisOf(label));
  Value x = ctx.permute(term.value, dims);
  for (auto [axis, label] : llvm::enumerate(order))
    if (!term.has(label))
      x = ctx.insertDim(x, static_cast<int64_t>(axis));
  return x;
}

/// Merges runs of dimensions after the batch ones; `counts` is the length of every run.
Value Einsum::group(Value x, ArrayRef<size_t> counts) {
  Sizes sizes;
  int64_t axis = 0;
  for (size_t i = 0; i < counts[0]; ++i)
    sizes.push_back(ctx.dim(x, axis++));
  for (size_t count : counts.drop_front()) {
    Size merged = 1;
    for (size_t i = 0; i < count; ++i)
      merged = ctx.times(merged, ctx.dim(x, axis++));
    sizes.push_back(merged);
  }
  return ctx.reshape(x, sizes);
}

Term Einsum::multiply(const Term &a, const Term &b, size_t from) {
  Labels batch, left, right, inner;
  for (int label : a.labels)
    (b.has(label) ? (isNeededLater(label, from) ? batch : inner) : left).push_back(label);
  for (int label : b.labels)
    if (!a.has(label))
      right.push_back(label);
  auto joined = [](std::initializer_list<ArrayRef<int>> parts) {
    Labels all;
    for (ArrayRef<int> part : parts)
      llvm::append_range(all, part);
    return all;
  };
  Value x = arrange(a, joined({batch, left, inner}));
  Value y = arrange(b, joined({batch, inner, right}));
  Term result{{}, joined({batch, left, right})};
  Sizes sizes;
  for (int label : batch) { // one of the two may be broadcast
    bool isBroadcast = shapeOf(a.value)[a.axisOf(label)] == 1;
    sizes.push_back(ctx.dim(isBroadcast ? b.value : a.value, isBroadcast ? b.axisOf(label) : a.axisOf(label)));
  }
  for (int label : left)
    sizes.push_back(ctx.dim(a.value, a.axisOf(label)));
  for (int label : right)
    sizes.push_back(ctx.dim(b.value, b.axisOf(label)));
  x = group(x, {batch.size(), left.size(), inner.size()});
  y = group(y, {batch.size(), inner.size(), right.size()});
  // Booleans have products, as masks of rows and columns do, but no sums of them.
  bool isOuter = isBool(dtypeOf(x)) && shapeOf(x).back() == 1;
  result.value = ctx.reshape(isOuter ? ctx.binary<MulOp>(x, y) : ctx.matmul(x, y), sizes);
  return result;
}

LogicalResult Einsum::run() {
  if (!parse())
    return ctx.refuse("the equation '" + ctx.string("equation") + "' does not fit its operands");
  SmallVector<Operand> operands;
  for (const Term &term : terms)
    operands.push_back(term.value);
  Type dtype = resultType(ctx.builder.getContext(), operands);
  if (!dtype)
    return ctx.refuse("PyTorch has no common type for these operands");
  // A sum of small integers is one of int64, as the program says; a product keeps their type.
  for (Term &term : terms)
    term.value = ctx.cast(term.value, isIntegral(dtype) ? ctx.resultDtype() : dtype);
  Term result = terms.front();
  for (size_t i = 1; i < terms.size(); ++i) {
    Term next = terms[i];
    // A label of one factor alone is summed before the product, not carried through it.
    auto trim = [&](Term &term, const Term &other) {
      Labels saved = output;
      llvm::append_range(output, other.labels);
      sumOut(term, i + 1);
      output = saved;
    };
    trim(result, next);
    trim(next, result);
    result = multiply(result, next, i + 1);
  }
  sumOut(result, terms.size());
  return ctx.replace(arrange(result, output));
}

} // namespace

LogicalResult lowerEinsum(LowerContext &ctx) { return Einsum(ctx).run(); }

} // namespace ingot::lower
