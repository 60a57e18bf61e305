#include "lower/Emit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/MathExtras.h"

#include <complex>

using namespace mlir;

namespace ingot::lower {

namespace {

APFloat toFloat(const Number &number, FloatType dtype) {
  APFloat value(dtype.getFloatSemantics());
  if (number.isInteger()) {
    value.convertFromAPInt(APInt(64, number.integer, /*isSigned=*/true), /*IsSigned=*/true,
                           APFloat::rmNearestTiesToEven);
    return value;
  }
  value = APFloat(number.real);
  bool losesInfo = false;
  value.convert(dtype.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value;
}

APInt toInteger(const Number &number, IntegerType dtype) {
  if (isBool(dtype))
    return APInt(1, !number.is(0));
  if (number.isInteger())
    return APInt(64, number.integer, /*isSigned=*/true).sextOrTrunc(dtype.getWidth());
  APSInt value(dtype.getWidth(), dtype.isUnsigned());
  bool isExact = false;
  APFloat(number.real).convertToInteger(value, APFloat::rmTowardZero, &isExact);
  return value;
}

DenseElementsAttr splat(const Number &number, Type dtype) {
  auto type = RankedTensorType::get({}, dtype);
  if (auto floating = dyn_cast<FloatType>(dtype))
    return DenseElementsAttr::get(type, toFloat(number, floating));
  if (auto integer = dyn_cast<IntegerType>(dtype))
    return DenseElementsAttr::get(type, toInteger(number, integer));
  auto part = cast<FloatType>(cast<ComplexType>(dtype).getElementType());
  std::complex<APFloat> value(toFloat(number, part), toFloat(Number::of(number.imaginary), part));
  return DenseElementsAttr::get(type, ArrayRef<std::complex<APFloat>>(value));
}

/// Literals and kDynamicEntry for the attribute, values for the operands.
struct Entries {
  SmallVector<int64_t> list;
  SmallVector<Value> dynamic;

  explicit Entries(ArrayRef<Size> sizes) {
    for (const Size &size : sizes) {
      list.push_back(size.entry());
      if (!size.isStatic())
        dynamic.push_back(size.dynamic);
    }
  }
};

bool isStaticShape(Value x, ArrayRef<int64_t> shape) { return tensorType(x).hasStaticShape() && shapeOf(x) == shape; }

} // namespace

Shape commonShape(ShapeRef a, ShapeRef b) {
  std::optional<Shape> shape = broadcastShapes(a, b);
  return shape ? *shape : Shape(a);
}

RankedTensorType Emitter::broadcastType(Value a, Value b, Type dtype) {
  return RankedTensorType::get(commonShape(shapeOf(a), shapeOf(b)), dtype);
}

//===------------------------------------------------------------------------------------------===//
// Sources and element-wise
//===------------------------------------------------------------------------------------------===//

Value Emitter::constant(const Number &number, Type dtype) {
  if (number.isStatic()) {
    DenseElementsAttr value = splat(number, dtype);
    return create<ConstantOp>(value.getType(), value).getResult();
  }
  auto type = RankedTensorType::get({}, number.dynamic.getType());
  return cast(create<FromScalarOp>(type, number.dynamic).getResult(), dtype);
}

Value Emitter::as(const Operand &operand, Type dtype) {
  return operand.isTensor() ? cast(operand.tensor, dtype) : constant(operand.number, dtype);
}

Value Emitter::full(const Number &number, ArrayRef<Size> sizes, Type dtype) {
  return expand(constant(number, dtype), sizes);
}

Value Emitter::iota(Number start, Number step, Size count, Type dtype) {
  auto scalar = [&](const Number &number) -> Value {
    if (!number.isStatic())
      return number.dynamic;
    TypedAttr attr = number.kind == Number::Float ? TypedAttr(builder.getF64FloatAttr(number.real))
                                                  : builder.getI64IntegerAttr(number.integer);
    return create<arith::ConstantOp>(attr);
  };
  auto type = RankedTensorType::get({count.entry()}, dtype);
  Value first = scalar(start), increment = scalar(step);
  return create<IotaOp>(type, first, increment, asValue(count)).getResult();
}

Value Emitter::select(Value condition, Value a, Value b) {
  Shape shape = commonShape(shapeOf(condition), commonShape(shapeOf(a), shapeOf(b)));
  auto type = RankedTensorType::get(shape, dtypeOf(a));
  return create<SelectOp>(type, condition, a, b).getResult();
}

Value Emitter::cast(Value x, Type dtype) {
  if (dtypeOf(x) == dtype)
    return x;
  return create<CastOp>(tensorType(x).clone(dtype), x).getResult();
}

//===------------------------------------------------------------------------------------------===//
// Moving data
//===------------------------------------------------------------------------------------------===//

Value Emitter::reshape(Value x, ArrayRef<Size> sizes) {
  Entries entries(sizes);
  if (isStaticShape(x, entries.list))
    return x;
  auto type = tensorType(x).clone(ArrayRef<int64_t>(entries.list));
  return create<ReshapeOp>(type, x, entries.dynamic, entries.list).getResult();
}

Value Emitter::reshapeTo(Value x, RankedTensorType type) {
  Sizes target;
  for (int64_t i = 0; i < type.getRank(); ++i)
    target.push_back(type.isDynamicDim(i) ? dim(x, i) : Size(type.getDimSize(i)));
  Entries entries(target);
  return create<ReshapeOp>(type, x, entries.dynamic, entries.list).getResult();
}

Value Emitter::expand(Value x, ArrayRef<Size> sizes) {
  Entries entries(sizes);
  if (isStaticShape(x, entries.list))
    return x;
  auto type = tensorType(x).clone(ArrayRef<int64_t>(entries.list));
  return create<ExpandOp>(type, x, entries.dynamic, entries.list).getResult();
}

Value Emitter::permute(Value x, ArrayRef<int64_t> dims) {
  if (llvm::is_sorted(dims))
    return x;
  SmallVector<int64_t> shape;
  for (int64_t dim : dims)
    shape.push_back(shapeOf(x)[dim]);
  auto type = tensorType(x).clone(ArrayRef<int64_t>(shape));
  return create<PermuteOp>(type, x, dims).getResult();
}

Value Emitter::transpose(Value x, int64_t a, int64_t b) {
  SmallVector<int64_t> dims = axisRange(0, rankOf(x));
  if (!dims.empty())
    std::swap(dims[a], dims[b]);
  return permute(x, dims);
}

Value Emitter::slice(Value x, int64_t axis, Size start, Size end, int64_t step, int64_t length) {
  int64_t size = shapeOf(x)[axis];
  if (start.is(0) && end.isStatic() && end.literal == size && step == 1)
    return x;
  if (start.isStatic() && end.isStatic())
    length = std::max<int64_t>(0, llvm::divideCeilSigned(end.literal - start.literal, step));
  SmallVector<int64_t> shape(shapeOf(x));
  shape[axis] = length;
  Entries bounds({start, end});
  auto type = tensorType(x).clone(ArrayRef<int64_t>(shape));
  return create<SliceOp>(type, x, bounds.dynamic, axis, bounds.list, step).getResult();
}

Value Emitter::insertSlice(Value x, Value source, int64_t axis, Size start, Size end, int64_t step) {
  Entries bounds({start, end});
  return create<InsertSliceOp>(x.getType(), x, source, bounds.dynamic, axis, bounds.list, step).getResult();
}

Value Emitter::concat(ArrayRef<Value> values, int64_t axis) {
  if (values.size() == 1)
    return values.front();
  SmallVector<int64_t> shape(shapeOf(values.front()));
  for (Value value : values.drop_front()) {
    for (auto [i, size] : llvm::enumerate(shapeOf(value))) {
      if (static_cast<int64_t>(i) != axis)
        shape[i] = shape[i] == kDynamicEntry ? size : shape[i];
      else
        shape[i] = shape[i] == kDynamicEntry || size == kDynamicEntry ? kDynamicEntry : shape[i] + size;
    }
  }
  auto type = tensorType(values.front()).clone(ArrayRef<int64_t>(shape));
  return create<ConcatOp>(type, ValueRange(values), axis).getResult();
}

Value Emitter::insertDim(Value x, int64_t axis) {
  Sizes shape = sizes(x);
  shape.insert(shape.begin() + axis, Size(1));
  return reshape(x, shape);
}

Value Emitter::dropDims(Value x, ArrayRef<int64_t> dims) {
  if (dims.empty())
    return x;
  Sizes kept;
  for (int64_t i = 0; i < rankOf(x); ++i)
    if (!llvm::is_contained(dims, i))
      kept.push_back(dim(x, i));
  return reshape(x, kept);
}

Value Emitter::flatten(Value x) {
  SmallVector<int64_t> all = axisRange(0, rankOf(x));
  return reshape(x, {numElements(x, all)});
}

Value Emitter::indexSelect(Value x, Value index, int64_t axis) {
  index = cast(index, i64());
  SmallVector<int64_t> shape(shapeOf(x).take_front(axis));
  llvm::append_range(shape, shapeOf(index));
  llvm::append_range(shape, shapeOf(x).drop_front(axis + 1));
  auto type = tensorType(x).clone(ArrayRef<int64_t>(shape));
  return create<IndexSelectOp>(type, x, index, axis).getResult();
}

//===------------------------------------------------------------------------------------------===//
// Reductions and products
//===------------------------------------------------------------------------------------------===//

Value Emitter::reduce(ReduceKind kind, Value x, ArrayRef<int64_t> dims) {
  if (dims.empty())
    return x;
  SmallVector<int64_t> shape(shapeOf(x));
  for (int64_t dim : dims)
    shape[dim] = 1;
  auto type = tensorType(x).clone(ArrayRef<int64_t>(shape));
  return create<ReduceOp>(type, x, kind, dims).getResult();
}

Value Emitter::argReduce(Value x, int64_t axis, bool minimum) {
  SmallVector<int64_t> shape(shapeOf(x));
  shape[axis] = 1;
  auto type = RankedTensorType::get(shape, i64());
  return create<ArgReduceOp>(type, x, axis, minimum).getResult();
}

Value Emitter::mean(Value x, ArrayRef<int64_t> dims) {
  Value count = constant(Number::of(numElements(x, dims)), dtypeOf(x));
  return binary<DivOp>(reduce(ReduceKind::Sum, x, dims), count);
}

Value Emitter::softmax(Value x, int64_t axis, bool log) {
  return create<SoftmaxOp>(x.getType(), x, axis, log).getResult();
}

Value Emitter::matmul(Value a, Value b, Value bias) {
  ArrayRef<int64_t> left = shapeOf(a), right = shapeOf(b);
  Shape shape = commonShape(left.drop_back(2), right.drop_back(2));
  shape.push_back(left[left.size() - 2]);
  shape.push_back(right.back());
  auto type = tensorType(a).clone(ArrayRef<int64_t>(shape));
  return create<MatmulOp>(type, a, b, bias, Value(), Activation::None).getResult();
}

} // namespace ingot::lower
