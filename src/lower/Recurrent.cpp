// Recurrent networks: whole layers, and single cells.
#include "dialect/SequenceOps.h"
#include "lower/Lowering.h"

using namespace mlir;

namespace ingot::lower {

//===------------------------------------------------------------------------------------------===//
// Layers
//===------------------------------------------------------------------------------------------===//

namespace {

struct Network {
  StringRef cell;
  Value batchSizes;              ///< of packed sequences
  SmallVector<Value> h, c;       ///< one for each layer and direction
  SmallVector<Value> parameters; ///< as PyTorch lists them
  size_t perDirection = 0;       ///< parameters of a layer's direction
  int64_t layers = 0, directions = 1;
  bool hasBiases = false, hasProjection = false, batchFirst = false;
};

StringRef cellOf(LowerContext &ctx) {
  StringRef name = ctx.op.getTarget();
  return name.contains("lstm") ? "lstm" : name.contains("gru") ? "gru" : name.contains("relu") ? "relu" : "tanh";
}

/// [layers * directions, B, H] apart.
SmallVector<Value> splitStates(LowerContext &ctx, Value states, int64_t count) {
  SmallVector<Value> result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(ctx.dropDims(ctx.slice(states, 0, i, i + 1), {0}));
  return result;
}

/// Nullopt after refusing.
std::optional<Network> readNetwork(LowerContext &ctx) {
  Network net;
  net.cell = cellOf(ctx);
  net.parameters = ctx.tensors("params");
  net.hasBiases = ctx.flag("has_biases");
  net.layers = ctx.integer("num_layers");
  net.directions = ctx.flag("bidirectional") ? 2 : 1;
  net.batchFirst = ctx.has("batch_first") && ctx.flag("batch_first");
  // (No more than parameters, lest products overflow; the exact number is compared below.)
  int64_t count = net.layers > static_cast<int64_t>(net.parameters.size()) ? 0 : net.layers * net.directions;
  SmallVector<Value> states = net.cell == "lstm" ? ctx.tensors("hx") : SmallVector<Value>{ctx.tensor("hx")};
  size_t wanted = net.cell == "lstm" ? 2 : 1;
  if (count < 1 || states.size() != wanted || net.parameters.size() % static_cast<size_t>(count) != 0) {
    (void)ctx.refuse("the states or parameters do not fit the number of layers");
    return std::nullopt;
  }
  if (ctx.flag("train") && ctx.real("dropout") != 0 && net.layers > 1) {
    (void)ctx.refuse("it is in training mode, which draws random numbers; call model.eval() before exporting");
    return std::nullopt;
  }
  net.perDirection = net.parameters.size() / static_cast<size_t>(count);
  size_t plain = net.hasBiases ? 4 : 2;
  net.hasProjection = net.cell == "lstm" && net.perDirection == plain + 1;
  if (net.perDirection != plain + (net.hasProjection ? 1 : 0) ||
      llvm::any_of(states, [](Value state) { return rankOf(state) != 3; })) {
    (void)ctx.refuse("the parameters or states have the wrong number");
    return std::nullopt;
  }
  net.h = splitStates(ctx, states[0], count);
  if (wanted == 2)
    net.c = splitStates(ctx, states[1], count);
  return net;
}

struct Outcome {
  Value sequence, h, c;
};

/// One layer in one direction. The inputs of all steps are multiplied at once.
Outcome runDirection(LowerContext &ctx, const Network &net, Value x, size_t number) {
  ArrayRef<Value> own = ArrayRef<Value>(net.parameters).slice(number * net.perDirection, net.perDirection);
  Value bias = net.hasBiases ? own[3] : Value(), inputBias = net.hasBiases ? own[2] : Value();
  Value projection = net.hasProjection ? own.back() : Value();
  int64_t last = rankOf(x) - 1;
  Sizes shape = ctx.sizes(x);
  Value rows = ctx.reshape(x, {ctx.numElements(x, axisRange(0, last)), shape[last]});
  Value gates = ctx.matmul(rows, ctx.transpose(own[0], 0, 1), inputBias);
  shape[last] = ctx.dim(gates, 1);
  gates = ctx.reshape(gates, shape);
  Value h = net.h[number], c = net.c.empty() ? Value() : net.c[number];
  SmallVector<int64_t> sequence(shapeOf(gates));
  sequence.back() = shapeOf(h)[1];
  SmallVector<Type> cellTypes;
  if (c)
    cellTypes.push_back(c.getType());
  bool reverse = net.directions == 2 && number % 2 == 1;
  auto walk = ctx.create<RecurrentOp>(withShape(tensorType(gates), sequence), h.getType(), cellTypes, gates, h, own[1],
                                      c, bias, projection, net.batchSizes, net.cell, reverse);
  return {walk.getSequence(), walk.getLastH(), c ? walk.getLastC().front() : Value()};
}

Value stack(LowerContext &ctx, ArrayRef<Value> values) {
  SmallVector<Value> parts;
  for (Value value : values)
    parts.push_back(ctx.insertDim(value, 0));
  return ctx.concat(parts, 0);
}

LogicalResult runNetwork(LowerContext &ctx, Network &net, Value x) {
  if (net.batchFirst)
    x = ctx.transpose(x, 0, 1);
  SmallVector<Value> lastH, lastC;
  for (int64_t layer = 0; layer < net.layers; ++layer) {
    SmallVector<Value> sequences;
    for (int64_t direction = 0; direction < net.directions; ++direction) {
      Outcome outcome = runDirection(ctx, net, x, static_cast<size_t>(layer * net.directions + direction));
      sequences.push_back(outcome.sequence);
      lastH.push_back(outcome.h);
      lastC.push_back(outcome.c);
    }
    x = ctx.concat(sequences, rankOf(x) - 1);
  }
  if (net.batchFirst)
    x = ctx.transpose(x, 0, 1);
  if (net.c.empty())
    return ctx.replace({x, stack(ctx, lastH)});
  Value h = stack(ctx, lastH);
  return ctx.replace({x, h, stack(ctx, lastC)});
}

} // namespace

LogicalResult lowerRecurrent(LowerContext &ctx) {
  std::optional<Network> net = readNetwork(ctx);
  if (!net)
    return failure(); // readNetwork said why
  Value x = ctx.tensor("input");
  if (rankOf(x) != 3 || !isFloat(dtypeOf(x)))
    return ctx.refuse("needs a batch of sequences of floating-point numbers");
  return runNetwork(ctx, *net, x);
}

LogicalResult lowerRecurrentPacked(LowerContext &ctx) {
  std::optional<Network> net = readNetwork(ctx);
  if (!net)
    return failure(); // readNetwork said why
  Value x = ctx.tensor("data");
  net->batchSizes = ctx.cast(ctx.tensor("batch_sizes"), ctx.i64());
  if (rankOf(x) != 2 || rankOf(net->batchSizes) != 1 || !isFloat(dtypeOf(x)))
    return ctx.refuse("needs packed sequences of floating-point numbers");
  return runNetwork(ctx, *net, x);
}

//===------------------------------------------------------------------------------------------===//
// Cells
//===------------------------------------------------------------------------------------------===//

namespace {

/// In the type of computation.
struct Gates {
  Value input, hidden;
};

/// x wᵀ + b, rounded to x's type, in the type of computation.
Value affine(LowerContext &ctx, Value x, Value weight, Value bias) {
  bool isVector = rankOf(x) == 1;
  Value rows = isVector ? ctx.insertDim(x, 0) : x;
  Value result = ctx.matmul(rows, ctx.transpose(weight, 0, 1), bias);
  return ctx.cast(isVector ? ctx.dropDims(result, {0}) : result, computeType(dtypeOf(x)));
}

Gates affineGates(LowerContext &ctx, Value h) {
  Value input = affine(ctx, ctx.tensor("input"), ctx.tensor("w_ih"), ctx.optionalTensor("b_ih"));
  return {input, affine(ctx, h, ctx.tensor("w_hh"), ctx.optionalTensor("b_hh"))};
}

/// As the fused cells are given them: products whose biases are yet to be added.
Gates fusedGates(LowerContext &ctx) {
  auto read = [&](StringRef gates, StringRef bias) {
    Value x = ctx.tensor(gates), offset = ctx.optionalTensor(bias);
    Type compute = computeType(dtypeOf(x));
    x = ctx.cast(x, compute);
    return offset ? ctx.binary<AddOp>(x, ctx.cast(offset, compute)) : x;
  };
  Value input = read("input_gates", "input_bias");
  return {input, read("hidden_gates", "hidden_bias")};
}

/// The `count` equal parts of the last dimension.
SmallVector<Value> parts(LowerContext &ctx, Value gates, int64_t count) {
  int64_t axis = rankOf(gates) - 1;
  Size size = ctx.floorDiv(ctx.dim(gates, axis), count);
  SmallVector<Value> result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(ctx.slice(gates, axis, ctx.times(size, i), ctx.times(size, i + 1), 1, size.entry()));
  return result;
}

Outcome lstmCell(LowerContext &ctx, const Gates &gates, Value c) {
  Type dtype = dtypeOf(c);
  SmallVector<Value> gate = parts(ctx, ctx.binary<AddOp>(gates.input, gates.hidden), 4);
  Value kept = ctx.binary<MulOp>(ctx.unary<SigmoidOp>(gate[1]), ctx.cast(c, dtypeOf(gate[1])));
  Value fresh = ctx.binary<MulOp>(ctx.unary<SigmoidOp>(gate[0]), ctx.unary<TanhOp>(gate[2]));
  Value next = ctx.binary<AddOp>(kept, fresh);
  Value h = ctx.binary<MulOp>(ctx.unary<SigmoidOp>(gate[3]), ctx.unary<TanhOp>(next));
  return {{}, ctx.cast(h, dtype), ctx.cast(next, dtype)};
}

Value gruCell(LowerContext &ctx, const Gates &gates, Value h) {
  SmallVector<Value> input = parts(ctx, gates.input, 3), hidden = parts(ctx, gates.hidden, 3);
  Value reset = ctx.unary<SigmoidOp>(ctx.binary<AddOp>(input[0], hidden[0]));
  Value keep = ctx.unary<SigmoidOp>(ctx.binary<AddOp>(input[1], hidden[1]));
  Value fresh = ctx.unary<TanhOp>(ctx.binary<AddOp>(input[2], ctx.binary<MulOp>(reset, hidden[2])));
  Value change = ctx.binary<MulOp>(ctx.binary<SubOp>(ctx.cast(h, dtypeOf(fresh)), fresh), keep);
  return ctx.cast(ctx.binary<AddOp>(change, fresh), dtypeOf(h));
}

} // namespace

LogicalResult lowerLstmCell(LowerContext &ctx) {
  SmallVector<Value> states = ctx.tensors("hx");
  if (states.size() != 2)
    return ctx.refuse("needs a hidden and a cell state");
  Outcome outcome = lstmCell(ctx, affineGates(ctx, states[0]), states[1]);
  return ctx.replace({outcome.h, outcome.c});
}

LogicalResult lowerGruCell(LowerContext &ctx) {
  Value h = ctx.tensor("hx");
  return ctx.replace(gruCell(ctx, affineGates(ctx, h), h));
}

LogicalResult lowerPlainCell(LowerContext &ctx) {
  Value h = ctx.tensor("hx");
  Gates gates = affineGates(ctx, h);
  Value sum = ctx.binary<AddOp>(gates.input, gates.hidden);
  Value next = cellOf(ctx) == "relu" ? ctx.unary<ReluOp>(sum) : ctx.unary<TanhOp>(sum);
  return ctx.replace(ctx.cast(next, dtypeOf(h)));
}

LogicalResult lowerFusedLstmCell(LowerContext &ctx) {
  Outcome outcome = lstmCell(ctx, fusedGates(ctx), ctx.tensor("cx"));
  return ctx.replace({outcome.h, outcome.c, Value()});
}

LogicalResult lowerFusedGruCell(LowerContext &ctx) {
  return ctx.replace({gruCell(ctx, fusedGates(ctx), ctx.tensor("hx")), Value()});
}

} // namespace ingot::lower
