// Writing through a view: the inverse of every view node.
#include "passes/functionalise/AliasSets.h"

#include "dialect/Conventions.h"
#include "import/Carrier.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace ingot {
namespace {

/// What an inverse works on.
struct Write {
  OpBuilder &builder;
  const ViewStep &step;
  Value parent, written;
  AtenOp writingNode;

  AtenOp view() const { return step.op; }
  AtenOp writer() const { return writingNode; }
  RankedTensorType parentType() const { return cast<RankedTensorType>(parent.getType()); }
  CarrierBuilder carrier(StringRef target) const { return {builder, writer().getLoc(), target}; }
  Value unsupported(const Twine &why) const {
    if (allowsFallback(writer()))
      return copyThrough();
    InFlightDiagnostic error = writer().emitError("'") << writer().getTarget() << "' writes to a view that '"
                                                       << view().getTarget() << "' made: " << why;
    error.attachNote(view().getLoc()) << "the view is made here";
    return {};
  }

  /// PyTorch views a copy of the parent and writes to that.
  Value copyThrough() const {
    SmallVector<Value> operands(view().getValues());
    operands[*operandNumberOf(view(), step.argument)] = parent;
    operands.push_back(written);
    auto copy =
        builder.create<AtenOp>(writer().getLoc(), parent.getType(), view().getTarget(), operands, view().getArgs(), 0);
    copy->setAttr(attr::kReturns, builder.getArrayAttr({}));
    copy->setAttr(attr::kWrites, builder.getStrArrayAttr({StringRef(step.argument)}));
    copy->setAttr(attr::kInto, builder.getI64IntegerAttr(step.result));
    return copy.getResult(0);
  }
};

using Inverse = Value (*)(const Write &);

Value same(const Write &write) { return write.written; }

/// The sizes of the viewed tensor, as a list of numbers and symbolic numbers.
SmallVector<OpFoldResult> parentSizes(const Write &write) {
  SmallVector<OpFoldResult> sizes;
  for (auto [axis, size] : llvm::enumerate(write.parentType().getShape())) {
    if (size != ShapedType::kDynamic)
      sizes.push_back(write.builder.getI64IntegerAttr(size));
    else
      sizes.push_back(write.carrier("aten::sym_size.int")
                          .arg("self", write.parent)
                          .arg("dim", static_cast<int64_t>(axis))
                          .value(write.builder.getI64Type()));
  }
  return sizes;
}

Value reshapeBack(const Write &write) {
  if (write.written.getType() == write.parent.getType() && write.parentType().hasStaticShape())
    return write.written;
  SmallVector<OpFoldResult> sizes = parentSizes(write);
  return write.carrier("aten::reshape").arg("self", write.written).arg("shape", sizes).value(write.parent.getType());
}

/// `view` is overloaded: with a dtype it reinterprets bits.
Value viewBack(const Write &write) {
  if (TargetName(write.view().getTarget()).overload != "dtype")
    return reshapeBack(write);
  auto dtype = TypeAttr::get(write.parentType().getElementType());
  return write.carrier("aten::view.dtype").arg("self", write.written).arg("dtype", dtype).value(write.parent.getType());
}

Value expandBack(const Write &write) {
  if (write.written.getType() == write.parent.getType() && write.parentType().hasStaticShape())
    return write.written;
  auto view = cast<RankedTensorType>(write.written.getType());
  if (llvm::is_contained(view.getShape(), 0))
    return write.parent; // nothing was written
  bool sameCount = view.hasStaticShape() && write.parentType().hasStaticShape() &&
                   view.getNumElements() == write.parentType().getNumElements();
  // Symbols that are not the same number would be an error in eager, and are one when the call comes.
  ArrayRef<int64_t> before = write.parentType().getShape(), after = view.getShape();
  bool sameSizes = after.size() >= before.size() && after.take_back(before.size()) == before &&
                   llvm::all_of(after.drop_back(before.size()), [](int64_t size) { return size == 1; });
  if (sameCount || sameSizes)
    return reshapeBack(write);
  return write.unsupported("several of its elements are one place in memory");
}

/// The same node again undoes it: transposing two dimensions, conjugating, negating.
Value again(const Write &write) {
  auto copy = cast<AtenOp>(write.builder.clone(*write.view()));
  copy->setOperand(*operandNumberOf(copy, write.step.argument), write.written);
  copy.getResult(write.step.result).setType(write.parent.getType());
  return copy.getResult(write.step.result);
}

Value permuteBack(const Write &write) {
  auto dims = write.view().getArgs().getAs<ArrayAttr>("dims");
  if (!dims)
    return write.unsupported("its dimensions are not known");
  int64_t rank = dims.size();
  SmallVector<int64_t> inverse(rank);
  for (auto [i, entry] : llvm::enumerate(dims)) {
    auto dim = dyn_cast<IntegerAttr>(entry);
    int64_t number = dim ? dim.getInt() : rank;
    if (number < 0)
      number += rank;
    if (number < 0 || number >= rank)
      return write.unsupported("its dimensions are out of range");
    inverse[number] = i;
  }
  return write.carrier("aten::permute")
      .arg("self", write.written)
      .arg("dims", write.builder.getI64ArrayAttr(inverse))
      .value(write.parent.getType());
}

Value reverseAxesBack(const Write &write) {
  auto dims = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, write.parentType().getRank())));
  return write.carrier("aten::permute")
      .arg("self", write.written)
      .arg("dims", write.builder.getI64ArrayAttr(dims))
      .value(write.parent.getType());
}

Value moveDimBack(const Write &write) {
  AtenOp view = write.view();
  return write.carrier(view.getTarget())
      .arg("self", write.written)
      .arg("source", view.getArgs().get("destination"))
      .arg("destination", view.getArgs().get("source"))
      .value(write.parent.getType());
}

/// `target` takes the viewed tensor, the new content, and the view's own arguments.
Value scatter(const Write &write, StringRef target, ArrayRef<StringRef> names) {
  CarrierBuilder carrier = write.carrier(target);
  carrier.arg("self", write.parent).arg("src", write.written);
  for (StringRef name : names)
    carrier.copy(write.view(), name);
  return carrier.value(write.parent.getType());
}

Value sliceBack(const Write &write) { return scatter(write, "aten::slice_scatter", {"dim", "start", "end", "step"}); }
Value selectBack(const Write &write) { return scatter(write, "aten::select_scatter", {"dim", "index"}); }
Value diagonalBack(const Write &write) { return scatter(write, "aten::diagonal_scatter", {"offset", "dim1", "dim2"}); }

Value asStridedBack(const Write &write) {
  if (write.view().getArgs().get("size") == nullptr)
    return write.unsupported("its sizes are not known");
  Value result = scatter(write, "aten::as_strided_scatter", {"size", "stride", "storage_offset"});
  if (mlir::Attribute strides = write.view()->getAttr(attr::kOperandStrides))
    result.getDefiningOp()->setAttr(attr::kOperandStrides, strides);
  return result;
}

Value scatterRange(const Write &write, int64_t dim, int64_t start, int64_t size) {
  return write.carrier("aten::slice_scatter")
      .arg("self", write.parent)
      .arg("src", write.written)
      .arg("dim", dim)
      .arg("start", start)
      .arg("end", start + size)
      .value(write.parent.getType());
}

/// 0, 1, 2, ... along an axis of the viewed tensor.
Value positionsAlong(const Write &write, int64_t axis) {
  OpFoldResult size = parentSizes(write)[axis];
  CarrierBuilder carrier = write.carrier("aten::arange");
  if (auto value = dyn_cast<Value>(size))
    carrier.arg("end", value);
  else
    carrier.arg("end", cast<Attribute>(size));
  return carrier.value(RankedTensorType::get({write.parentType().getDimSize(axis)}, write.builder.getI64Type()));
}

Value copyToPositions(const Write &write, int64_t axis, Value positions, Value content) {
  return write.carrier("aten::index_copy")
      .arg("self", write.parent)
      .arg("dim", axis)
      .arg("index", positions)
      .arg("source", content)
      .value(write.parent.getType());
}

std::optional<int64_t> axisOf(const Write &write, StringRef name) {
  std::optional<int64_t> dim = integerOf(write.view(), name);
  int64_t rank = write.parentType().getRank();
  int64_t axis = dim && *dim < 0 ? *dim + rank : dim.value_or(-1);
  return axis >= 0 && axis < rank ? std::optional(axis) : std::nullopt;
}

Value narrowBack(const Write &write) {
  std::optional<int64_t> axis = axisOf(write, "dim"), start = integerOf(write.view(), "start"),
                         length = integerOf(write.view(), "length");
  if (!axis)
    return write.unsupported("its dimension is not known");
  if (start && length && *start >= 0)
    return scatterRange(write, *axis, *start, *length);
  Value positions = positionsAlong(write, *axis);
  auto type = RankedTensorType::get({write.step.resultType().getDimSize(*axis)}, write.builder.getI64Type());
  Value narrowed = write.carrier(write.view().getTarget())
                       .arg("self", positions)
                       .arg("dim", int64_t{0})
                       .copy(write.view(), "start")
                       .copy(write.view(), "length")
                       .value(type);
  return copyToPositions(write, *axis, narrowed, write.written);
}

/// Windows that do not overlap; of others, eager refuses writes.
Value unfoldBack(const Write &write) {
  std::optional<int64_t> axis = axisOf(write, "dimension"), size = integerOf(write.view(), "size"),
                         step = integerOf(write.view(), "step");
  if (write.parentType().getRank() == 0) // of a single element there is one window, of it or of nothing
    return size == 1 ? reshapeBack(write) : write.parent;
  if (!axis || !size || !step || *step < *size)
    return write.unsupported("several of its elements are one place in memory");
  int64_t count = write.step.resultType().getDimSize(*axis);
  int64_t total = count == ShapedType::kDynamic ? count : count * *size;
  Type i64 = write.builder.getI64Type();
  Value windows = write.carrier("aten::unfold")
                      .arg("self", positionsAlong(write, *axis))
                      .arg("dimension", int64_t{0})
                      .arg("size", *size)
                      .arg("step", *step)
                      .value(RankedTensorType::get({count, *size}, i64));
  auto flatten = [&](Value x, int64_t first, RankedTensorType type) {
    return write.carrier("aten::flatten.using_ints")
        .arg("self", x)
        .arg("start_dim", first)
        .arg("end_dim", first + 1)
        .value(type);
  };
  SmallVector<int64_t> shape(write.step.resultType().getShape().drop_back());
  shape.insert(shape.begin() + *axis + 1, *size);
  Type element = write.parentType().getElementType();
  Value content = write.carrier("aten::movedim.int")
                      .arg("self", write.written)
                      .arg("source", int64_t{-1})
                      .arg("destination", *axis + 1)
                      .value(RankedTensorType::get(shape, element));
  shape.erase(shape.begin() + *axis + 1);
  shape[*axis] = total;
  return copyToPositions(write, *axis, flatten(windows, 0, RankedTensorType::get({total}, i64)),
                         flatten(content, *axis, RankedTensorType::get(shape, element)));
}

/// Pieces whose sizes are symbols: all of them again, one after the other, with this one new.
Value joinPieces(const Write &write, int64_t axis) {
  auto pieces = cast<AtenOp>(write.builder.clone(*write.view()));
  pieces->setOperand(*operandNumberOf(pieces, write.step.argument), write.parent);
  SmallVector<OpFoldResult> list(pieces.getResults());
  list[write.step.result] = write.written;
  return write.carrier("aten::cat").arg("tensors", list).arg("dim", axis).value(write.parent.getType());
}

/// One of the pieces that a tensor is cut into; those before it tell where it starts.
Value pieceAlong(const Write &write, std::optional<int64_t> axis) {
  if (!axis || *axis >= write.parentType().getRank())
    return write.unsupported("its dimension is not known");
  int64_t start = 0, size = 0;
  for (unsigned i = 0; i <= write.step.result; ++i) {
    start += size;
    size = cast<RankedTensorType>(write.view().getResult(i).getType()).getDimSize(*axis);
    if (size == ShapedType::kDynamic)
      return joinPieces(write, *axis);
  }
  return scatterRange(write, *axis, start, size);
}

Value pieceBack(const Write &write) { return pieceAlong(write, axisOf(write, "dim")); }
Value rowsBack(const Write &write) { return pieceAlong(write, 0); }
Value columnsBack(const Write &write) { return pieceAlong(write, write.parentType().getRank() > 1 ? 1 : 0); }
Value layersBack(const Write &write) { return pieceAlong(write, 2); }

Value unbindBack(const Write &write) {
  return write.carrier("aten::select_scatter")
      .arg("self", write.parent)
      .arg("src", write.written)
      .copy(write.view(), "dim")
      .arg("index", static_cast<int64_t>(write.step.result))
      .value(write.parent.getType());
}

template <char const *target> Value convertBack(const Write &write) {
  return write.carrier(target).arg("self", write.written).value(write.parent.getType());
}
constexpr char kViewAsReal[] = "aten::view_as_real";
constexpr char kViewAsComplex[] = "aten::view_as_complex";

/// The part that was not viewed comes from the parent.
Value realBack(const Write &write) {
  if (!isa<ComplexType>(write.parentType().getElementType()))
    return write.written;
  Value imag = write.carrier("aten::imag").arg("self", write.parent).value(write.step.resultType());
  return write.carrier("aten::complex").arg("real", write.written).arg("imag", imag).value(write.parent.getType());
}

Value imagBack(const Write &write) {
  Value real = write.carrier("aten::real").arg("self", write.parent).value(write.step.resultType());
  return write.carrier("aten::complex").arg("real", real).arg("imag", write.written).value(write.parent.getType());
}

struct Row {
  const char *view;
  Inverse inverse;
};

// Overloads of one name are undone alike.
const Row kInverses[] = {
    {"aten::alias", same},
    {"aten::detach", same},
    {"aten::to", same},
    {"aten::type_as", same},
    {"aten::sum_to_size", same},
    {"aten::contiguous", same},
    {"aten::lift_fresh", same},
    {"aten::dropout", same},
    {"aten::feature_dropout", same},
    {"aten::alpha_dropout", same},
    {"aten::requires_grad_", same},
    {"aten::resolve_conj", same},
    {"aten::resolve_neg", same},
    {"aten::positive", same},
    {"aten::view", viewBack},
    {"aten::view_as", reshapeBack},
    {"aten::reshape", reshapeBack},
    {"aten::reshape_as", reshapeBack},
    {"aten::_reshape_alias", reshapeBack},
    {"aten::_unsafe_view", reshapeBack},
    {"aten::flatten", reshapeBack},
    {"aten::unflatten", reshapeBack},
    {"aten::ravel", reshapeBack},
    {"aten::squeeze", reshapeBack},
    {"aten::atleast_1d", reshapeBack},
    {"aten::atleast_2d", reshapeBack},
    {"aten::atleast_3d", reshapeBack},
    {"aten::unsqueeze", reshapeBack},
    {"aten::expand", expandBack},
    {"aten::expand_as", expandBack},
    {"aten::broadcast_to", expandBack},
    {"aten::transpose", again},
    {"aten::swapaxes", again},
    {"aten::swapdims", again},
    {"aten::t", again},
    {"aten::mT", again},
    {"aten::mH", again},
    {"aten::matrix_H", again},
    {"aten::adjoint", again},
    {"aten::conj", again},
    {"aten::_conj", again},
    {"aten::_neg_view", again},
    {"aten::numpy_T", reverseAxesBack},
    {"aten::permute", permuteBack},
    {"aten::movedim", moveDimBack},
    {"aten::moveaxis", moveDimBack},
    {"aten::slice", sliceBack},
    {"aten::narrow", narrowBack},
    {"aten::select", selectBack},
    {"aten::diagonal", diagonalBack},
    {"aten::as_strided", asStridedBack},
    {"aten::split", pieceBack},
    {"aten::split_with_sizes", pieceBack},
    {"aten::chunk", pieceBack},
    {"aten::tensor_split", pieceBack},
    {"aten::unsafe_split", pieceBack},
    {"aten::unsafe_split_with_sizes", pieceBack},
    {"aten::unsafe_chunk", pieceBack},
    {"aten::vsplit", rowsBack},
    {"aten::hsplit", columnsBack},
    {"aten::dsplit", layersBack},
    {"aten::unfold", unfoldBack},
    {"aten::unbind", unbindBack},
    {"aten::real", realBack},
    {"aten::imag", imagBack},
    {"aten::view_as_real", convertBack<kViewAsComplex>},
    {"aten::view_as_complex", convertBack<kViewAsReal>},
};

Inverse inverseOf(StringRef view) {
  auto row = llvm::find_if(kInverses, [&](const Row &candidate) { return view == candidate.view; });
  return row == std::end(kInverses) ? nullptr : row->inverse;
}

} // namespace

Value invertView(OpBuilder &builder, const ViewStep &step, Value parent, Value written, AtenOp writer) {
  Write write{builder, step, parent, written, writer};
  Inverse inverse = inverseOf(TargetName(write.view().getTarget()).name);
  if (!inverse)
    return write.unsupported("such views cannot be written to yet; write to a copy (.clone()) instead");
  return inverse(write);
}

} // namespace ingot
