// Branches, loops and numbers read from tensors. Higher-order nodes have no schema: their arguments are `arg0`, `arg1` …,
// which come from a file and are checked here.
#include "dialect/ControlOps.h"
#include "lower/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace ingot::lower {

namespace {

/// The sub-graph that argument `name` is; null after refusing.
Region *graph(LowerContext &ctx, StringRef name) {
  auto ref = dyn_cast_or_null<RegionRefAttr>(ctx.attr(name));
  bool isValid = ref && ref.getIndex() >= 0 && ref.getIndex() < static_cast<int64_t>(ctx.op.getGraphs().size());
  if (!isValid) {
    (void)ctx.refuse("argument `" + name + "` is no sub-graph");
    return nullptr;
  }
  return &ctx.op.getGraphs()[ref.getIndex()];
}

/// A literal number as a value of the program.
Value literalValue(LowerContext &ctx, Attribute literal) {
  if (auto integer = dyn_cast<IntegerAttr>(literal); integer && integer.getType().isInteger(64))
    return ctx.create<arith::ConstantOp>(integer);
  if (auto real = dyn_cast<FloatAttr>(literal); real && real.getType().isF64())
    return ctx.create<arith::ConstantOp>(real);
  if (auto boolean = dyn_cast<BoolAttr>(literal))
    return ctx.create<arith::ConstantOp>(boolean);
  return {};
}

/// Appends the values of a list argument; nothing when it is absent.
LogicalResult listValues(LowerContext &ctx, StringRef name, SmallVectorImpl<Value> &values) {
  Attribute attr = ctx.attr(name);
  if (!attr || isa<UnitAttr>(attr))
    return success();
  if (auto numbers = dyn_cast<DenseI64ArrayAttr>(attr)) {
    for (int64_t number : numbers.asArrayRef())
      values.push_back(ctx.asValue(Size(number)));
    return success();
  }
  auto list = dyn_cast<ArrayAttr>(attr);
  if (!list)
    return ctx.refuse("argument `" + name + "` is no list");
  for (Attribute entry : list) {
    auto ref = dyn_cast<ValueRefAttr>(entry);
    bool isOperand = ref && ref.getIndex() >= 0 && ref.getIndex() < ctx.op->getNumOperands();
    Value value = isOperand ? ctx.op->getOperand(ref.getIndex()) : literalValue(ctx, entry);
    if (!value)
      return ctx.refuse("argument `" + name + "` holds something that is neither a tensor nor a number");
    values.push_back(value);
  }
  return success();
}

/// Ops are verified after the lowering; a sub-graph that does not fit must not have been moved by then.
LogicalResult checkBody(LowerContext &ctx, Region &body, size_t arguments, std::optional<size_t> results) {
  auto yield = cast<YieldOp>(body.front().getTerminator());
  if (body.getNumArguments() != arguments || (results && yield.getValues().size() != *results))
    return ctx.refuse("a sub-graph does not fit its operands or results");
  return success();
}

SmallVector<Value> results(Operation *op) { return SmallVector<Value>(op->getResults()); }

/// The results of a scan in the order of the node, which has the carried values first.
LogicalResult replaceByScan(LowerContext &ctx, Region &body, ArrayRef<Value> carried, ArrayRef<Value> sequences,
                            ArrayRef<Value> extra, bool associative) {
  if (sequences.empty())
    return ctx.refuse("there is nothing to go over");
  for (Value sequence : sequences)
    if (!isa<RankedTensorType>(sequence.getType()) || rankOf(sequence) == 0)
      return ctx.refuse("what is gone over must have a first dimension");
  size_t arguments = carried.size() + sequences.size() * (associative ? 2 : 1) + extra.size();
  if (failed(checkBody(ctx, body, arguments, ctx.numResults())))
    return failure();
  auto scan = ctx.create<ScanOp>(ctx.op.getResultTypes(), carried, sequences, extra, associative);
  scan.getBody().takeBody(body);
  return ctx.replace(results(scan));
}

} // namespace

LogicalResult lowerCond(LowerContext &ctx) {
  Region *then = graph(ctx, "arg1"), *otherwise = graph(ctx, "arg2");
  SmallVector<Value> operands;
  if (!then || !otherwise || failed(listValues(ctx, "arg3", operands)))
    return failure();
  Attribute condition = ctx.attr("arg0");
  auto ref = dyn_cast_or_null<ValueRefAttr>(condition);
  Value value = ref ? ctx.op->getOperand(ref.getIndex()) : literalValue(ctx, condition);
  if (!value)
    return ctx.refuse("the condition is neither a tensor nor a boolean");
  if (isa<RankedTensorType>(value.getType()))
    value = ctx.cast(value, ctx.i1());
  if (failed(checkBody(ctx, *then, operands.size(), ctx.numResults())) ||
      failed(checkBody(ctx, *otherwise, operands.size(), ctx.numResults())))
    return failure();
  auto branch = ctx.create<IfOp>(ctx.op.getResultTypes(), value, operands);
  branch.getThen().takeBody(*then);
  branch.getOtherwise().takeBody(*otherwise);
  return ctx.replace(results(branch));
}

LogicalResult lowerWhileLoop(LowerContext &ctx) {
  Region *test = graph(ctx, "arg0"), *body = graph(ctx, "arg1");
  SmallVector<Value> carried, extra;
  if (!test || !body || failed(listValues(ctx, "arg2", carried)) || failed(listValues(ctx, "arg3", extra)))
    return failure();
  size_t arguments = carried.size() + extra.size();
  if (carried.size() != ctx.numResults() || failed(checkBody(ctx, *test, arguments, 1)) ||
      failed(checkBody(ctx, *body, arguments, carried.size())))
    return ctx.refuse("the loop's sub-graphs do not fit its operands");
  auto loop = ctx.create<WhileOp>(ctx.op.getResultTypes(), carried, extra);
  loop.getTest().takeBody(*test);
  loop.getBody().takeBody(*body);
  return ctx.replace(results(loop));
}

LogicalResult lowerScan(LowerContext &ctx) {
  Region *body = graph(ctx, "arg0");
  SmallVector<Value> carried, sequences, extra;
  if (!body || failed(listValues(ctx, "arg1", carried)) || failed(listValues(ctx, "arg2", sequences)) ||
      failed(listValues(ctx, "arg3", extra)))
    return failure();
  return replaceByScan(ctx, *body, carried, sequences, extra, /*associative=*/false);
}

LogicalResult lowerMap(LowerContext &ctx) {
  Region *body = graph(ctx, "arg0");
  SmallVector<Value> sequences, extra;
  if (!body || failed(listValues(ctx, "arg1", sequences)) || failed(listValues(ctx, "arg2", extra)))
    return failure();
  return replaceByScan(ctx, *body, {}, sequences, extra, /*associative=*/false);
}

LogicalResult lowerAssociativeScan(LowerContext &ctx) {
  Region *body = graph(ctx, "arg0");
  SmallVector<Value> sequences, extra;
  if (!body || failed(listValues(ctx, "arg1", sequences)) || failed(listValues(ctx, "arg2", extra)))
    return failure();
  return replaceByScan(ctx, *body, {}, sequences, extra, /*associative=*/true);
}

LogicalResult lowerItem(LowerContext &ctx) {
  Type wanted = ctx.op->getResult(0).getType();
  if (isa<RankedTensorType>(wanted))
    return ctx.refuse("the number of a complex tensor is no symbolic number");
  return ctx.replace(ctx.create<ItemOp>(wanted, ctx.tensor("self")).getResult());
}

LogicalResult lowerIsNonzero(LowerContext &ctx) {
  Value x = ctx.tensor("self");
  return ctx.replace(ctx.create<ItemOp>(ctx.i1(), ctx.cast(x, ctx.i1())).getResult());
}

LogicalResult lowerAssertScalar(LowerContext &ctx) {
  Number condition = ctx.number("self");
  if (!ctx.isRefused() && !condition.isStatic())
    ctx.create<CheckOp>(ctx.i1(), condition.dynamic, ctx.string("assert_msg"));
  return ctx.replace({});
}

LogicalResult lowerAssertAsync(LowerContext &ctx) {
  StringRef message = ctx.has("assert_msg") ? ctx.string("assert_msg") : "an assertion of the model does not hold";
  ctx.create<CheckOp>(ctx.i1(), ctx.tensor("self"), message);
  return ctx.numResults() == 0 ? ctx.replace({}) : ctx.replace(ctx.tensor("dep_token"));
}

} // namespace ingot::lower
