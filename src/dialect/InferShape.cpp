#include "dialect/InferShape.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace ingot {

static constexpr int64_t kUnknown = ShapedType::kDynamic;

static bool isKnown(int64_t size) { return size != kUnknown; }

std::string shapeText(ShapeRef shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : "x") + (isKnown(size) ? std::to_string(size) : std::string("?"));
  return text;
}

bool shapesAgree(ShapeRef a, ShapeRef b) {
  if (a.size() != b.size())
    return false;
  return llvm::all_of(llvm::zip_equal(a, b), [](auto sizes) {
    auto [x, y] = sizes;
    return x == y || !isKnown(x) || !isKnown(y);
  });
}

std::optional<int64_t> broadcastSize(int64_t a, int64_t b) {
  if (a == b || b == 1)
    return a;
  // An unknown size beside a known one other than 1 must turn out to be that one, or 1.
  if (a == 1 || !isKnown(a))
    return b;
  if (!isKnown(b))
    return a;
  return std::nullopt;
}

std::optional<Shape> broadcastShapes(ShapeRef a, ShapeRef b) {
  if (a.size() < b.size())
    std::swap(a, b);
  Shape result(a);
  size_t offset = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    std::optional<int64_t> size = broadcastSize(a[offset + i], b[i]);
    if (!size)
      return std::nullopt;
    result[offset + i] = *size;
  }
  return result;
}

std::optional<Shape> broadcastShapes(TypeRange types) {
  Shape shape;
  for (Type type : types) {
    std::optional<Shape> next = broadcastShapes(shape, cast<RankedTensorType>(type).getShape());
    if (!next)
      return std::nullopt;
    shape = *next;
  }
  return shape;
}

RankedTensorType elementwiseType(TypeRange operands, Type element) {
  std::optional<Shape> shape = broadcastShapes(operands);
  if (!shape || operands.empty())
    return {};
  if (!element)
    element = cast<RankedTensorType>(operands.back()).getElementType();
  return RankedTensorType::get(*shape, element);
}

RankedTensorType withShape(RankedTensorType type, ShapeRef shape) {
  return RankedTensorType::get(shape, type.getElementType());
}

RankedTensorType withElement(RankedTensorType type, Type element) {
  return RankedTensorType::get(type.getShape(), element);
}

int64_t elementCount(ShapeRef shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    if (!isKnown(size) || llvm::MulOverflow(count, size, count))
      return kUnknown;
  return count;
}

std::optional<int64_t> normalizeAxis(int64_t axis, int64_t rank) {
  if (axis < 0)
    axis += rank;
  if (axis < 0 || axis >= rank)
    return std::nullopt;
  return axis;
}

/// Every entry is a dimension of x, and none is there twice.
static bool areDistinctAxes(ShapeRef axes, int64_t rank) {
  llvm::SmallVector<bool> seen(rank);
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= rank || seen[axis])
      return false;
    seen[axis] = true;
  }
  return true;
}

RankedTensorType permuteType(RankedTensorType x, ShapeRef dims) {
  if (static_cast<int64_t>(dims.size()) != x.getRank() || !areDistinctAxes(dims, x.getRank()))
    return {};
  Shape shape;
  for (int64_t dim : dims)
    shape.push_back(x.getDimSize(dim));
  return withShape(x, shape);
}

int64_t sliceSize(int64_t start, int64_t end, int64_t step) {
  return end <= start ? 0 : llvm::divideCeil(end - start, step);
}

RankedTensorType sliceType(RankedTensorType x, int64_t axis, ShapeRef bounds, int64_t step) {
  if (axis < 0 || axis >= x.getRank() || bounds.size() != 2 || step < 1)
    return {};
  Shape shape(x.getShape());
  int64_t size = shape[axis];
  auto [start, end] = std::pair(bounds[0], bounds[1]);
  for (int64_t bound : bounds)
    if (isKnown(bound) && (bound < 0 || (isKnown(size) && bound > size)))
      return {};
  shape[axis] = isKnown(start) && isKnown(end) ? sliceSize(start, end, step) : kUnknown;
  return withShape(x, shape);
}

RankedTensorType concatType(TypeRange types, int64_t axis) {
  if (types.empty())
    return {};
  auto first = cast<RankedTensorType>(types.front());
  if (axis < 0 || axis >= first.getRank())
    return {};
  Shape shape(first.getShape());
  for (Type other : types.drop_front()) {
    auto type = cast<RankedTensorType>(other);
    if (type.getRank() != first.getRank() || type.getElementType() != first.getElementType())
      return {};
    for (auto [i, size] : llvm::enumerate(type.getShape())) {
      bool known = isKnown(size) && isKnown(shape[i]);
      if (static_cast<int64_t>(i) == axis)
        shape[i] = known ? shape[i] + size : kUnknown;
      else if (known && size != shape[i])
        return {};
      else if (!isKnown(shape[i]))
        shape[i] = size;
    }
  }
  return withShape(first, shape);
}

RankedTensorType padType(RankedTensorType x, ShapeRef low, ShapeRef high) {
  size_t rank = x.getRank();
  if (low.size() != rank || high.size() != rank)
    return {};
  Shape shape(x.getShape());
  for (size_t i = 0; i < rank; ++i)
    if (isKnown(shape[i]) && (shape[i] += low[i] + high[i]) < 0)
      return {};
  return withShape(x, shape);
}

RankedTensorType indexSelectType(RankedTensorType x, RankedTensorType index, int64_t axis) {
  if (axis < 0 || axis >= x.getRank())
    return {};
  Shape shape(x.getShape().take_front(axis));
  llvm::append_range(shape, index.getShape());
  llvm::append_range(shape, x.getShape().drop_front(axis + 1));
  return withShape(x, shape);
}

RankedTensorType indexType(RankedTensorType x, TypeRange indices, ShapeRef axes) {
  std::optional<Shape> common = broadcastShapes(indices);
  if (!common || axes.empty() || axes.size() != indices.size() || !areDistinctAxes(axes, x.getRank()))
    return {};
  for (size_t i = 1; i < axes.size(); ++i)
    if (axes[i] != axes[i - 1] + 1)
      return {};
  Shape shape(x.getShape().take_front(axes.front()));
  llvm::append_range(shape, *common);
  llvm::append_range(shape, x.getShape().drop_front(axes.back() + 1));
  return withShape(x, shape);
}

RankedTensorType reduceType(RankedTensorType x, ShapeRef dims, Type element) {
  if (!areDistinctAxes(dims, x.getRank()))
    return {};
  Shape shape(x.getShape());
  for (int64_t dim : dims)
    shape[dim] = 1;
  return RankedTensorType::get(shape, element ? element : x.getElementType());
}

RankedTensorType matmulType(RankedTensorType a, RankedTensorType b) {
  if (a.getRank() < 2 || b.getRank() < 2 || a.getElementType() != b.getElementType())
    return {};
  if (!shapesAgree(a.getShape().take_back(1), b.getShape().take_back(2).take_front(1)))
    return {};
  std::optional<Shape> shape = broadcastShapes(a.getShape().drop_back(2), b.getShape().drop_back(2));
  if (!shape)
    return {};
  shape->push_back(a.getShape().drop_back(1).back());
  shape->push_back(b.getShape().back());
  return withShape(a, *shape);
}

RankedTensorType attentionType(RankedTensorType q, RankedTensorType v) {
  if (q.getRank() < 2 || v.getRank() < 2)
    return {};
  Shape shape(q.getShape());
  shape.back() = v.getShape().back();
  return withShape(q, shape);
}

std::optional<int64_t> windowCount(int64_t size, const Window &window) {
  if (window.kernel < 1 || window.stride < 1 || window.dilation < 1)
    return std::nullopt;
  if (!isKnown(size))
    return kUnknown;
  int64_t room = size + window.padLow + window.padHigh - window.dilation * (window.kernel - 1) - 1;
  if (room < 0)
    return std::nullopt;
  if (!window.ceilMode)
    return room / window.stride + 1;
  int64_t count = (room + window.stride - 1) / window.stride + 1;
  // The last window must start inside the input or its left padding.
  return (count - 1) * window.stride >= size + window.padLow ? count - 1 : count;
}

/// One spatial size of a transposed convolution.
static int64_t transposedSize(int64_t size, int64_t outputPadding, const Window &window) {
  if (!isKnown(size))
    return kUnknown;
  return (size - 1) * window.stride - window.padLow - window.padHigh + window.dilation * (window.kernel - 1) +
         outputPadding + 1;
}

static bool fitsChannels(RankedTensorType x, RankedTensorType weight, const ConvShape &conv) {
  int64_t channels = x.getDimSize(1);
  int64_t wanted = conv.transposed ? weight.getDimSize(0) : weight.getDimSize(1) * conv.groups;
  int64_t first = weight.getDimSize(0);
  return conv.groups >= 1 && weight.hasStaticShape() && first % conv.groups == 0 &&
         (!isKnown(channels) || channels == wanted);
}

RankedTensorType convType(RankedTensorType x, RankedTensorType weight, const ConvShape &conv) {
  size_t spatial = conv.strides.size();
  auto isList = [&](ShapeRef list) { return list.size() == spatial; };
  if (spatial < 1 || spatial > 3 || !isList(conv.padLow) || !isList(conv.padHigh) || !isList(conv.dilations) ||
      !isList(conv.outputPadding) || x.getRank() != static_cast<int64_t>(spatial) + 2 ||
      weight.getRank() != x.getRank() || x.getElementType() != weight.getElementType() ||
      !fitsChannels(x, weight, conv))
    return {};
  Shape shape = {x.getDimSize(0), conv.transposed ? weight.getDimSize(1) * conv.groups : weight.getDimSize(0)};
  for (size_t i = 0; i < spatial; ++i) {
    Window window{.kernel = weight.getDimSize(i + 2),
                  .stride = conv.strides[i],
                  .padLow = conv.padLow[i],
                  .padHigh = conv.padHigh[i],
                  .dilation = conv.dilations[i]};
    std::optional<int64_t> size = conv.transposed ? transposedSize(x.getDimSize(i + 2), conv.outputPadding[i], window)
                                                  : windowCount(x.getDimSize(i + 2), window);
    if (!size || (isKnown(*size) && *size < 0))
      return {};
    shape.push_back(*size);
  }
  return withShape(x, shape);
}

} // namespace ingot
