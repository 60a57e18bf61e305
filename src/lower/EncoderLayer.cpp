// The operators that nn.MultiheadAttention and nn.TransformerEncoderLayer take in evaluation, where no gradients are wanted: each is a
// whole layer.
#include "lower/Lowering.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace ingot::lower {

namespace {

Value linear(LowerContext &ctx, Value x, Value weight, Value bias) {
  return ctx.matmul(x, ctx.transpose(weight, 0, 1), bias);
}

/// Rows [index * width, (index + 1) * width) of what queries, keys and values have in one tensor.
Value partOf(LowerContext &ctx, Value all, int64_t index, int64_t width) {
  return ctx.slice(all, 0, Size(index * width), Size((index + 1) * width));
}

/// [batch, tokens, width] to [batch, heads, tokens, width / heads]
Value toHeads(LowerContext &ctx, Value x, int64_t heads) {
  Sizes sizes = ctx.sizes(x);
  const int64_t width = shapeOf(x).back() / heads;
  return ctx.transpose(ctx.reshape(x, {sizes[0], sizes[1], Size(heads), Size(width)}), 1, 2);
}

/// Which scores do not count, as a tensor that broadcasts to [batch, heads, queries, keys]; null after refusing.
Value blockedScores(LowerContext &ctx, Value mask) {
  const int64_t kind = ctx.isNone("mask_type") ? 2 : ctx.integer("mask_type");
  const int64_t rank = kind == 2 ? 4 : 2;
  if (kind < 0 || kind > 2 || rankOf(mask) != rank) {
    (void)ctx.refuse("a mask of this kind and rank is unknown");
    return {};
  }
  mask = ctx.cast(mask, ctx.i1()); // infinities of a float mask, too
  if (kind == 1)                   // one of the keys
    return ctx.insertDim(ctx.insertDim(mask, 1), 1);
  return mask;
}

struct Attended {
  Value result, weights; ///< null after refusing
};

Attended attend(LowerContext &ctx, Value query, Value key, Value value, int64_t heads) {
  const int64_t width = shapeOf(query).back();
  if (rankOf(query) != 3 || rankOf(key) != 3 || rankOf(value) != 3 || ShapedType::isDynamic(width) || heads <= 0 ||
      width % heads != 0) {
    (void)ctx.refuse("needs [batch, tokens, channels], of which the last is known and a multiple of the heads");
    return {};
  }
  Value weight = ctx.tensor("qkv_weight"), bias = ctx.tensor("qkv_bias");
  auto projected = [&](Value x, int64_t index) {
    return toHeads(ctx, linear(ctx, x, partOf(ctx, weight, index, width), partOf(ctx, bias, index, width)), heads);
  };
  Value q = projected(query, 0), k = projected(key, 1), v = projected(value, 2);
  Value scaled = ctx.binary<MulOp>(q, 1 / std::sqrt(static_cast<double>(width / heads)));
  Value scores = ctx.matmul(scaled, ctx.transpose(k, 2, 3));
  if (Value mask = ctx.optionalTensor("mask")) {
    Value isBlocked = blockedScores(ctx, mask);
    if (!isBlocked)
      return {}; // blockedScores said why
    Value never = ctx.constant(-std::numeric_limits<double>::infinity(), dtypeOf(scores));
    scores = ctx.select(isBlocked, never, scores);
  }
  Value weights = ctx.softmax(scores, 3, /*log=*/false);
  Value joined = ctx.reshape(ctx.transpose(ctx.matmul(weights, v), 1, 2), ctx.sizes(query));
  return {linear(ctx, joined, ctx.tensor("proj_weight"), ctx.tensor("proj_bias")), weights};
}

Value normalised(LowerContext &ctx, Value x, StringRef weight, StringRef bias) {
  const APFloat eps(ctx.real("eps"));
  return ctx.create<LayerNormOp>(x.getType(), x, ctx.tensor(weight), ctx.tensor(bias), 1, eps, /*rms=*/false)
      .getResult();
}

Value feedForward(LowerContext &ctx, Value x) {
  Value inner = linear(ctx, x, ctx.tensor("ffn_weight_1"), ctx.tensor("ffn_bias_1"));
  inner = ctx.flag("use_gelu") ? ctx.unary<GeluOp>(inner) : ctx.unary<ReluOp>(inner);
  return linear(ctx, inner, ctx.tensor("ffn_weight_2"), ctx.tensor("ffn_bias_2"));
}

} // namespace

LogicalResult lowerNativeMultiHeadAttention(LowerContext &ctx) {
  const int64_t heads = ctx.integer("num_head");
  auto [result, weights] = attend(ctx, ctx.tensor("query"), ctx.tensor("key"), ctx.tensor("value"), heads);
  if (!result)
    return failure(); // attend said why
  if (!ctx.flag("need_weights"))
    weights = {};
  else if (ctx.flag("average_attn_weights"))
    weights = ctx.dropDims(ctx.mean(weights, {1}), {1});
  return ctx.replace({result, weights});
}

LogicalResult lowerTransformerEncoderLayer(LowerContext &ctx) {
  const bool normsFirst = ctx.flag("norm_first");
  Value x = ctx.tensor("src");
  if (!isFloat(dtypeOf(x)) || isReducedFloat(dtypeOf(x)))
    return ctx.refuse("needs float32 or float64");
  auto normedFirst = [&](Value value, StringRef weight, StringRef bias) {
    return normsFirst ? normalised(ctx, value, weight, bias) : value;
  };
  auto normedLast = [&](Value value, StringRef weight, StringRef bias) {
    return normsFirst ? value : normalised(ctx, value, weight, bias);
  };
  Value input = normedFirst(x, "norm_weight_1", "norm_bias_1");
  Value attended = attend(ctx, input, input, input, ctx.integer("num_heads")).result;
  if (!attended)
    return failure(); // attend said why
  x = normedLast(ctx.binary<AddOp>(attended, x), "norm_weight_1", "norm_bias_1");
  Value fed = feedForward(ctx, normedFirst(x, "norm_weight_2", "norm_bias_2"));
  return ctx.replace(normedLast(ctx.binary<AddOp>(fed, x), "norm_weight_2", "norm_bias_2"));
}

} // namespace ingot::lower
