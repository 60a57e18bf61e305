#include "dialect/Conventions.h"
#include "dialect/Ops.h"
#include "import/Carrier.h"
#include "passes/compose/Passes.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace ingot {

#define GEN_PASS_DEF_DECLARECOMPOSITESPASS
#include "passes/compose/Passes.h.inc"

namespace {

/// An input or attribute of the declaration, and the argument of the operator that it is.
struct Part {
  const char *name, *argument;
};

/// An operator that readers of the program may want whole.
struct Row {
  const char *target, *name;
  llvm::ArrayRef<Part> inputs, attributes;
};

constexpr Part kSelf[] = {{"input", "self"}};
constexpr Part kAffine[] = {{"input", "input"}, {"gamma", "weight"}, {"beta", "bias"}};
constexpr Part kNormalised[] = {
    {"input", "input"}, {"gamma", "weight"}, {"beta", "bias"}, {"mean", "running_mean"}, {"variance", "running_var"}};
constexpr Part kGrouped[] = {{"input", "input"}, {"weight", "weight"}, {"bias", "bias"}};
constexpr Part kAttended[] = {{"query", "query"}, {"key", "key"}, {"value", "value"}, {"attn_mask", "attn_mask"}};

constexpr Part kEps[] = {{"eps", "eps"}};
constexpr Part kLayer[] = {{"axes", "normalized_shape"}, {"eps", "eps"}};
constexpr Part kGroups[] = {{"num_groups", "num_groups"}, {"eps", "eps"}};
constexpr Part kNativeGroups[] = {{"num_groups", "group"}, {"num_channels", "C"}, {"eps", "eps"}};
constexpr Part kAxis[] = {{"axis", "dim"}};
constexpr Part kFactor[] = {{"upscale_factor", "upscale_factor"}};
constexpr Part kOrder[] = {{"ord", "ord"}, {"keep_dim", "keepdim"}, {"axes", "dim"}};
constexpr Part kWindow[] = {{"kernel_size", "kernel_size"},
                            {"stride", "stride"},
                            {"padding", "padding"},
                            {"ceil_mode", "ceil_mode"},
                            {"count_include_pad", "count_include_pad"},
                            {"divisor_override", "divisor_override"}};
constexpr Part kScores[] = {{"is_causal", "is_causal"}, {"scale", "scale"}, {"enable_gqa", "enable_gqa"}};

// Every row becomes a function with a declaration where the pass is asked for.
const Row kRows[] = {
    {"aten::_native_batch_norm_legit_no_training", "batch_norm", kNormalised, kEps},
    {"aten::native_group_norm", "group_norm", kGrouped, kNativeGroups},
    {"aten::group_norm", "group_norm", kGrouped, kGroups},
    {"aten::native_layer_norm", "layer_norm", kAffine, kLayer},
    {"aten::layer_norm", "layer_norm", kAffine, kLayer},
    {"aten::instance_norm", "instance_norm", kAffine, kEps},
    {"aten::hardsigmoid", "hard_sigmoid", kSelf, {}},
    {"aten::_log_softmax", "log_softmax", kSelf, kAxis},
    {"aten::log_softmax.int", "log_softmax", kSelf, kAxis},
    {"aten::pixel_shuffle", "pixel_shuffle", kSelf, kFactor},
    {"aten::linalg_vector_norm", "linalg_vector_norm", kSelf, kOrder},
    {"aten::avg_pool2d", "avg_pool_2d", kSelf, kWindow},
    {"aten::avg_pool3d", "avg_pool_3d", kSelf, kWindow},
    {"aten::scaled_dot_product_attention", "scaled_dot_product_attention", kAttended, kScores},
};

int64_t rankOf(AtenOp op) { return cast<RankedTensorType>(op.getValues().front().getType()).getRank(); }

Attribute signedNumber(Builder &builder, int64_t value) {
  return IntegerAttr::get(builder.getIntegerType(64, /*isSigned=*/true), value);
}

/// An argument as declarations write it: signed integers, dimensions that count from the front. Null for None.
Attribute declared(AtenOp op, const Part &part, Attribute value) {
  Builder builder(op.getContext());
  const StringRef name = part.name;
  if (StringRef(part.argument) == "normalized_shape") {
    const auto count = static_cast<int64_t>(cast<ArrayAttr>(value).size());
    SmallVector<Attribute> axes;
    for (int64_t axis = rankOf(op) - count; axis < rankOf(op); ++axis)
      axes.push_back(signedNumber(builder, axis));
    return builder.getArrayAttr(axes);
  }
  if (auto number = dyn_cast<IntegerAttr>(value); number && !isa<BoolAttr>(value)) {
    const bool fromEnd = (name == "axis" || name == "axes") && number.getInt() < 0;
    return signedNumber(builder, number.getInt() + (fromEnd ? rankOf(op) : 0));
  }
  if (auto list = dyn_cast<ArrayAttr>(value)) {
    SmallVector<Attribute> items;
    for (Attribute item : list)
      items.push_back(declared(op, part, item));
    return llvm::all_of(items, [](Attribute item) { return static_cast<bool>(item); }) ? builder.getArrayAttr(items)
                                                                                       : Attribute();
  }
  if (auto number = dyn_cast<FloatAttr>(value))
    return builder.getF32FloatAttr(static_cast<float>(number.getValueAsDouble()));
  return isa<BoolAttr>(value) ? value : Attribute();
}

DictionaryAttr declarationOf(AtenOp op, const Row &row) {
  Builder builder(op.getContext());
  SmallVector<StringRef> inputs;
  for (const Part &part : row.inputs)
    if (operandOf(op, part.argument))
      inputs.push_back(part.name);
  NamedAttrList attributes;
  for (const Part &part : row.attributes)
    if (Attribute given = op.getArgs().get(part.argument))
      if (Attribute value = declared(op, part, given))
        attributes.set(part.name, value);
  attributes.set("version", signedNumber(builder, 1));
  NamedAttrList fields;
  fields.set("input_names", builder.getStrArrayAttr(inputs));
  fields.set("op_attrs", attributes.getDictionary(op.getContext()));
  fields.set("output_names", builder.getStrArrayAttr({"output"}));
  return builder.getDictionaryAttr(builder.getNamedAttr(row.name, fields.getDictionary(op.getContext())));
}

/// Every operand is an input of the declaration, once, in its order; there is one result that anybody uses.
bool fits(AtenOp op, const Row &row) {
  unsigned next = 0;
  for (const Part &part : row.inputs)
    if (std::optional<unsigned> number = operandNumberOf(op, part.argument))
      if (*number != next++)
        return false;
  if (next == 0 || next != op.getValues().size() || !isa<RankedTensorType>(op.getValues().front().getType()))
    return false;
  return llvm::all_of(op.getResults().drop_front(), [](Value result) { return result.use_empty(); });
}

struct DeclareCompositesPass : impl::DeclareCompositesPassBase<DeclareCompositesPass> {
  void runOnOperation() override {
    llvm::StringMap<const Row *> rows;
    for (const Row &row : kRows)
      rows[row.target] = &row;
    SmallVector<std::pair<AtenOp, const Row *>> found;
    getOperation().walk([&](AtenOp op) {
      const Row *row = rows.lookup(op.getTarget());
      // What is in a declared body is declared with it.
      if (row && fits(op, *row) && !op->getParentOfType<func::FuncOp>()->hasAttr(attr::kCompositeDecl))
        found.emplace_back(op, row);
    });
    SymbolTable symbols(getOperation());
    for (auto [op, row] : found)
      outline(op, *row, symbols);
  }

private:
  static void outline(AtenOp op, const Row &row, SymbolTable &symbols) {
    OpBuilder builder(op);
    auto type = builder.getFunctionType(op.getValues().getTypes(), TypeRange(op.getResultTypes()).take_front());
    auto body = func::FuncOp::create(op.getLoc(), row.name, type);
    body.setPrivate();
    body->setAttr(attr::kCompositeDecl, declarationOf(op, row));
    symbols.insert(body);
    auto call = builder.create<func::CallOp>(op.getLoc(), body, op.getValues());
    op.getResult(0).replaceAllUsesWith(call.getResult(0));
    Block *block = body.addEntryBlock();
    op->moveBefore(block, block->end());
    op->setOperands(block->getArguments());
    builder.setInsertionPointToEnd(block);
    builder.create<func::ReturnOp>(op.getLoc(), op.getResult(0));
  }
};

} // namespace
} // namespace ingot
