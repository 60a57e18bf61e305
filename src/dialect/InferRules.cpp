// One row an op: the types of its results, by the shape functions that its verifier uses.
#include "dialect/Inference.h"
#include "dialect/Types.h"
#include "dialect/VerifyHelpers.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace ingot {
namespace {

constexpr int64_t kUnknown = ShapedType::kDynamic;

// Several ops have these shapes.

Types sameAsFirst(Inference &op) { return {op.tensor(0)}; }

/// Values as the operand, and int64 positions, of one shape.
Types withPositions(Inference &op, RankedTensorType type) {
  return {type, type ? withElement(type, op.i64()) : RankedTensorType()};
}

Types pairAsFirst(Inference &op) { return withPositions(op, op.tensor(0)); }
Types pairReduced(Inference &op) { return withPositions(op, reduceType(op.tensor(0), op.integer("axis"))); }

/// The sizes are an attribute.
Types bySizes(Inference &op) { return {withShape(op.tensor(0), op.list("sizes"))}; }
Types randomBySizes(Inference &op) { return {RankedTensorType::get(op.list("sizes"), op.dtype())}; }

/// Number `axis` of the shape replaced; null where there is no such dimension.
RankedTensorType replaceSize(RankedTensorType x, int64_t axis, int64_t size) {
  if (axis < 0 || axis >= x.getRank())
    return {};
  Shape shape(x.getShape());
  shape[axis] = size;
  return withShape(x, shape);
}

// Moving and picking.

Types inferPermute(Inference &op) { return {permuteType(op.tensor(0), op.list("dims"))}; }
Types inferSlice(Inference &op) {
  return {sliceType(op.tensor(0), op.integer("axis"), op.list("bounds"), op.integer("step"))};
}
Types inferConcat(Inference &op) {
  for (size_t i = 0; i < op.operands().size(); ++i)
    (void)op.tensor(i);
  return {op.problem.empty() ? concatType(op.operands(), op.integer("axis")) : RankedTensorType()};
}
Types inferPad(Inference &op) { return {padType(op.tensor(0), op.list("low"), op.list("high"))}; }
Types inferIndexSelect(Inference &op) { return {indexSelectType(op.tensor(0), op.tensor(1), op.integer("axis"))}; }
Types inferGather(Inference &op) { return {withShape(op.tensor(0), op.tensor(1).getShape())}; }
Types inferIndex(Inference &op) {
  for (size_t i = 0; i < op.operands().size(); ++i)
    (void)op.tensor(i);
  if (!op.problem.empty() || op.operands().empty())
    return {Type()};
  return {indexType(op.tensor(0), op.operands().drop_front(), op.list("axes"))};
}
Types inferNonzero(Inference &op) { return {RankedTensorType::get({kUnknown, op.tensor(0).getRank()}, op.i64())}; }
Types inferNonzeroStatic(Inference &op) {
  ShapeRef rows = op.list("rows");
  int64_t count = rows.size() == 1 ? rows.front() : 0;
  return {RankedTensorType::get({count, op.tensor(0).getRank()}, op.i64())};
}
Types inferBitcast(Inference &op) {
  RankedTensorType x = op.tensor(0);
  std::optional<DType> before = dtypeOfType(x.getElementType()), after = dtypeOfType(op.dtype());
  if (!before || !after)
    return {Type()};
  Shape shape(x.getShape());
  if (!shape.empty() && shape.back() != kUnknown)
    shape.back() = shape.back() * static_cast<int64_t>(byteSize(*before)) / static_cast<int64_t>(byteSize(*after));
  return {RankedTensorType::get(shape, op.dtype())};
}

// Numbers.

Types inferDim(Inference &op) {
  (void)op.tensor(0);
  return {op.i64()};
}
Types inferCheck(Inference &op) { return {op.i1()}; }
Types inferFromScalar(Inference &op) {
  Type number = op.type(0);
  return {isa<RankedTensorType>(number) ? Type() : RankedTensorType::get({}, number)};
}
/// By the element type: integers are i64, floating-point numbers f64.
Types inferItem(Inference &op) {
  Type element = op.tensor(0).getElementType();
  if (isBool(element))
    return {op.i1()};
  if (isFloat(element))
    return {Float64Type::get(op.context())};
  return {isInteger(element) ? op.i64() : Type()};
}
Types inferIota(Inference &op) {
  Type element = op.op.dtype ? op.op.dtype : op.type(0);
  return {RankedTensorType::get({kUnknown}, element)};
}
Types inferConstant(Inference &op) {
  auto value = dyn_cast_or_null<ElementsAttr>(op.attribute("value"));
  return {value ? Type(value.getType()) : Type()};
}

// Reductions.

Types inferReduce(Inference &op) {
  enum { Any = 4, All = 5 };
  int64_t kind = op.integer("kind");
  return {reduceType(op.tensor(0), op.list("dims"), kind == Any || kind == All ? op.i1() : Type())};
}
Types inferArgReduce(Inference &op) { return {reduceType(op.tensor(0), op.integer("axis"), op.i64())}; }
Types inferTopk(Inference &op) {
  ShapeRef k = op.list("k");
  return withPositions(op, replaceSize(op.tensor(0), op.integer("axis"), k.size() == 1 ? k.front() : kUnknown));
}
Types inferSearchSorted(Inference &op) { return {withElement(op.tensor(1), op.i64())}; }
Types inferSegmentReduce(Inference &op) {
  ShapeRef offsets = op.tensor(1).getShape();
  bool isKnown = !offsets.empty() && offsets.back() != kUnknown;
  return {replaceSize(op.tensor(0), op.integer("axis"), isKnown ? offsets.back() - 1 : kUnknown)};
}
Types inferUnique(Inference &op) {
  RankedTensorType x = op.tensor(0);
  int64_t axis = std::max<int64_t>(op.integer("axis"), 0);
  RankedTensorType values = replaceSize(x, axis, kUnknown);
  if (!values)
    return {Type()};
  return {values, RankedTensorType::get({x.getDimSize(axis)}, op.i64()), RankedTensorType::get({kUnknown}, op.i64())};
}
Types inferBincount(Inference &op) {
  Type element = op.operands().size() > 1 ? op.tensor(1).getElementType() : op.i64();
  return {RankedTensorType::get({kUnknown}, element)};
}
Types inferPositions(Inference &op) { return {RankedTensorType::get({kUnknown}, op.i64())}; }

// Products and windows.

Types inferGatherMatmul(Inference &op) {
  RankedTensorType chosen = indexSelectType(op.tensor(1), op.tensor(2), 0);
  return {chosen ? matmulType(op.tensor(0), chosen) : RankedTensorType()};
}
Types inferMatmul(Inference &op) { return {matmulType(op.tensor(0), op.tensor(1))}; }
Types inferConv(Inference &op) {
  ConvShape conv{.strides = op.list("strides"),
                 .padLow = op.list("pad_low"),
                 .padHigh = op.list("pad_high"),
                 .dilations = op.list("dilations"),
                 .outputPadding = op.list("output_padding"),
                 .groups = op.integer("groups"),
                 .transposed = op.flag("transposed")};
  RankedTensorType x = op.tensor(0), weight = op.tensor(1);
  return {op.problem.empty() && x.getRank() > 2 ? convType(x, weight, conv) : RankedTensorType()};
}
Types inferAttention(Inference &op) { return {attentionType(op.tensor(0), op.tensor(2))}; }
Types inferMaxPool(Inference &op) {
  return withPositions(op, poolType(op.tensor(0), {op.list("kernel"), op.list("strides"), op.list("padding"),
                                                   op.list("dilations"), op.flag("ceil_mode")}));
}
Types inferAvgPool(Inference &op) {
  Shape dilations(op.list("kernel").size(), 1);
  return {poolType(op.tensor(0),
                   {op.list("kernel"), op.list("strides"), op.list("padding"), dilations, op.flag("ceil_mode")})};
}
Types inferAdaptiveAvgPool(Inference &op) { return {op.withSpatial(op.tensor(0), op.list("output"))}; }
Types inferOutputPair(Inference &op) { return withPositions(op, op.withSpatial(op.tensor(0), op.list("output"))); }
Types inferResize(Inference &op) {
  RankedTensorType x = op.tensor(0);
  if (x.getRank() != static_cast<int64_t>(op.list("sizes").size()) + 2)
    return {Type()};
  return {op.withSpatial(x, op.list("sizes"))};
}
Types inferPlaneScatter(Inference &op) { return {replaceSize(op.tensor(0), 1, op.integer("size"))}; }
Types inferFold(Inference &op) {
  RankedTensorType x = op.tensor(0);
  ShapeRef kernel = op.list("kernel"), output = op.list("output");
  if (x.getRank() != 3 || kernel.size() != 2 || output.size() != 2 || kernel[0] * kernel[1] < 1)
    return {Type()};
  int64_t channels = x.isDynamicDim(1) ? kUnknown : x.getDimSize(1) / (kernel[0] * kernel[1]);
  return {withShape(x, {x.getDimSize(0), channels, output[0], output[1]})};
}
Types inferGridSample(Inference &op) {
  RankedTensorType x = op.tensor(0), grid = op.tensor(1);
  if (x.getRank() < 3 || grid.getRank() != x.getRank())
    return {Type()};
  Shape shape(x.getShape().take_front(2));
  llvm::append_range(shape, grid.getShape().drop_front().drop_back());
  return {withShape(x, shape)};
}
Types inferRoiAlign(Inference &op) {
  RankedTensorType x = op.tensor(0), boxes = op.tensor(1);
  ShapeRef output = op.list("output");
  if (x.getRank() != 4 || boxes.getRank() != 2 || output.size() != 2)
    return {Type()};
  return {withShape(x, {boxes.getDimSize(0), x.getDimSize(1), output[0], output[1]})};
}

// Parts of numbers.

Types inferComplexPart(Inference &op) {
  auto complex = dyn_cast<ComplexType>(op.tensor(0).getElementType());
  return {complex ? withElement(op.tensor(0), complex.getElementType()) : RankedTensorType()};
}
Types inferComplex(Inference &op) {
  RankedTensorType a = op.tensor(0), b = op.tensor(1);
  std::optional<Shape> shape = broadcastShapes(a.getShape(), b.getShape());
  if (!shape || !isa<FloatType>(a.getElementType()))
    return {Type()};
  return {RankedTensorType::get(*shape, ComplexType::get(a.getElementType()))};
}
Types inferFrexpExponent(Inference &op) { return {withElement(op.tensor(0), op.i32())}; }
Types inferHash(Inference &op) {
  auto bits = IntegerType::get(op.context(), 64, IntegerType::Unsigned);
  return {reduceType(op.tensor(0), op.list("dims"), bits)};
}
Types inferAdjoint(Inference &op) {
  RankedTensorType x = op.tensor(0);
  if (x.getRank() < 2)
    return {Type()};
  Shape shape(x.getShape());
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  return {withShape(x, shape)};
}
Types inferGatedDelta(Inference &op) { return {op.tensor(2), op.tensor(5)}; }
Types inferCtcLoss(Inference &op) {
  RankedTensorType probs = op.tensor(0);
  return {probs.getRank() == 3 ? withShape(probs, probs.getShape().slice(1, 1)) : RankedTensorType()};
}

struct Rule {
  StringRef name;
  InferRule infer;
};

constexpr Rule kRules[] = {
    // moving and picking
    {"reshape", bySizes},
    {"expand", bySizes},
    {"as_strided", bySizes},
    {"permute", inferPermute},
    {"slice", inferSlice},
    {"insert_slice", sameAsFirst},
    {"concat", inferConcat},
    {"pad", inferPad},
    {"flip", sameAsFirst},
    {"index_select", inferIndexSelect},
    {"gather", inferGather},
    {"index", inferIndex},
    {"scatter", sameAsFirst},
    {"index_put", sameAsFirst},
    {"nonzero", inferNonzero},
    {"nonzero_static", inferNonzeroStatic},
    {"bitcast", inferBitcast},
    // numbers
    {"constant", inferConstant},
    {"dim", inferDim},
    {"check", inferCheck},
    {"from_scalar", inferFromScalar},
    {"item", inferItem},
    {"iota", inferIota},
    // reductions, order
    {"reduce", inferReduce},
    {"arg_reduce", inferArgReduce},
    {"cumsum", sameAsFirst},
    {"cum_reduce", sameAsFirst},
    {"cum_extreme", pairAsFirst},
    {"softmax", sameAsFirst},
    {"layer_norm", sameAsFirst},
    {"group_norm", sameAsFirst},
    {"sort", pairAsFirst},
    {"topk", inferTopk},
    {"kth_value", pairReduced},
    {"median", pairReduced},
    {"mode", pairReduced},
    {"search_sorted", inferSearchSorted},
    {"segment_reduce", inferSegmentReduce},
    {"unique", inferUnique},
    {"bincount", inferBincount},
    {"repeat_index", inferPositions},
    // products, windows
    {"matmul", inferMatmul},
    {"gather_matmul", inferGatherMatmul},
    {"conv", inferConv},
    {"attention", inferAttention},
    {"max_pool", inferMaxPool},
    {"avg_pool", inferAvgPool},
    {"adaptive_avg_pool", inferAdaptiveAvgPool},
    {"adaptive_max_pool", inferOutputPair},
    {"fractional_max_pool", inferOutputPair},
    {"resize", inferResize},
    {"resize_filtered", inferResize},
    {"plane_scatter", inferPlaneScatter},
    {"fold", inferFold},
    {"grid_sample", inferGridSample},
    {"roi_align", inferRoiAlign},
    {"nms", inferPositions},
    // parts of numbers, matrices
    {"real", inferComplexPart},
    {"imag", inferComplexPart},
    {"complex", inferComplex},
    {"frexp_exponent", inferFrexpExponent},
    {"hash", inferHash},
    {"adjoint", inferAdjoint},
    {"matrix_exp", sameAsFirst},
    {"check_info", sameAsFirst},
    {"ctc_loss", inferCtcLoss},
    {"gated_delta", inferGatedDelta},
    // random numbers
    {"random_uniform", randomBySizes},
    {"random_normal", randomBySizes},
    {"random_integer", randomBySizes},
    {"random_poisson", sameAsFirst},
    {"random_binomial", sameAsFirst},
};

} // namespace

InferRule findInferRule(StringRef name) {
  static const llvm::StringMap<InferRule> byName = [] {
    llvm::StringMap<InferRule> map;
    for (const Rule &rule : kRules)
      map.try_emplace(rule.name, rule.infer);
    return map;
  }();
  if (!name.consume_front("ingot."))
    return nullptr;
  return byName.lookup(name);
}

} // namespace ingot
