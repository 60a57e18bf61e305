#include "passes/Passes.h"
#include "passes/Pointwise.h"

#include <mlir/Transforms/GreedyPatternRewriteDriver.h>

using namespace mlir;

namespace ingot {

#define GEN_PASS_DEF_FOLDRESIZEPASS
#include "passes/Passes.h.inc"

namespace {

/// An image must become so many times larger that adding results up again costs less than is won.
constexpr int64_t kMinGrowth = 3;

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// Every pixel of the result is made of the same pixel of x, whose size is known.
bool isOfKnownImages(ConvOp conv) {
  RankedTensorType x = conv.getX().getType();
  return isPointwise(conv) && x.hasStaticShape() && (x.getElementType().isF32() || x.getElementType().isF64());
}

/// Interpolation is a weighted sum of pixels, so that it may as well come after the convolution, of `channels`.
bool isWorthwhile(ResizeOp resize, int64_t channels) {
  RankedTensorType from = typeOf(resize.getX()), to = typeOf(resize);
  return resize->hasOneUse() && from.hasStaticShape() && to.hasStaticShape() && from.getNumElements() > 0 &&
         to.getNumElements() >= kMinGrowth * from.getNumElements() && channels <= 2 * from.getDimSize(1);
}

class Splitter {
public:
  Splitter(ConvOp conv, PatternRewriter &rewriter) : conv(conv), rewriter(rewriter) {}

  /// The sum of the parts; null where nothing is worth it.
  Value split(ArrayRef<Value> inputs) {
    SmallVector<Value> plain, plainWeights, enlarged;
    const int64_t channels = typeOf(conv).getDimSize(1);
    if (llvm::none_of(inputs, [&](Value input) {
          auto resize = input.getDefiningOp<ResizeOp>();
          return resize && isWorthwhile(resize, channels);
        }))
      return {};
    int64_t first = 0;
    for (Value input : inputs) {
      const int64_t last = first + typeOf(input).getDimSize(1);
      Value weight = weightsOf(first, last);
      first = last;
      if (auto resize = input.getDefiningOp<ResizeOp>(); resize && isWorthwhile(resize, channels)) {
        enlarged.push_back(enlarge(resize, convolve(resize.getX(), weight, Value())));
      } else {
        plain.push_back(input);
        plainWeights.push_back(weight);
      }
    }
    return sum(plain, plainWeights, enlarged);
  }

private:
  Value weightsOf(int64_t first, int64_t last) {
    RankedTensorType type = typeOf(conv.getWeight());
    SmallVector<int64_t> sizes(type.getShape());
    sizes[1] = last - first;
    return rewriter.createOrFold<SliceOp>(conv.getLoc(), RankedTensorType::get(sizes, type.getElementType()),
                                          conv.getWeight(), ValueRange(), rewriter.getI64IntegerAttr(1),
                                          rewriter.getDenseI64ArrayAttr({first, last}), rewriter.getI64IntegerAttr(1));
  }

  Value convolve(Value x, Value weight, Value bias) {
    SmallVector<int64_t> sizes(typeOf(x).getShape());
    sizes[1] = typeOf(conv).getDimSize(1);
    return rewriter.create<ConvOp>(conv.getLoc(), RankedTensorType::get(sizes, typeOf(conv).getElementType()), x,
                                   weight, bias, Value(), conv.getStrides(), conv.getPadLow(), conv.getPadHigh(),
                                   conv.getDilations(), conv.getOutputPadding(), conv.getGroups(), conv.getTransposed(),
                                   Activation::None);
  }

  Value enlarge(ResizeOp resize, Value x) {
    return rewriter.create<ResizeOp>(resize.getLoc(), conv.getType(), x, resize.getDynamic(), resize.getMode(),
                                     resize.getAlignCorners(), resize.getScales(), resize.getSizes());
  }

  Value joined(ArrayRef<Value> values) {
    if (values.size() == 1)
      return values[0];
    SmallVector<int64_t> sizes(typeOf(values[0]).getShape());
    sizes[1] = 0;
    for (Value value : values)
      sizes[1] += typeOf(value).getDimSize(1);
    return rewriter.create<ConcatOp>(conv.getLoc(), RankedTensorType::get(sizes, typeOf(conv).getElementType()), values,
                                     rewriter.getI64IntegerAttr(1));
  }

  /// What is not enlarged is one convolution, which comes last and has the bias; later passes add to it in place.
  Value sum(ArrayRef<Value> plain, ArrayRef<Value> plainWeights, ArrayRef<Value> enlarged) {
    Value total = enlarged[0];
    for (Value part : enlarged.drop_front())
      total = rewriter.create<AddOp>(conv.getLoc(), conv.getType(), total, part);
    if (!plain.empty())
      return rewriter.create<AddOp>(conv.getLoc(), conv.getType(),
                                    convolve(joined(plain), joined(plainWeights), conv.getBias()), total);
    if (!conv.getBias())
      return total;
    SmallVector<int64_t> sizes(typeOf(conv).getRank() - 1, 1);
    sizes[0] = typeOf(conv).getDimSize(1);
    Value bias = rewriter.create<ReshapeOp>(conv.getLoc(), RankedTensorType::get(sizes, typeOf(conv).getElementType()),
                                            conv.getBias(), ValueRange(), rewriter.getDenseI64ArrayAttr(sizes));
    return rewriter.create<AddOp>(conv.getLoc(), conv.getType(), total, bias);
  }

  ConvOp conv;
  PatternRewriter &rewriter;
};

struct FoldResize : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ConvOp conv, PatternRewriter &rewriter) const override {
    if (conv.getResidual() || conv.getActivation() != Activation::None || !isOfKnownImages(conv))
      return rewriter.notifyMatchFailure(conv, "no plain pointwise convolution");
    auto concat = conv.getX().getDefiningOp<ConcatOp>();
    const bool isJoined = concat && concat.getAxis() == 1 && concat->hasOneUse() &&
                          llvm::all_of(concat.getValues(), [](Value v) { return typeOf(v).hasStaticShape(); });
    SmallVector<Value> inputs{conv.getX()};
    if (isJoined)
      inputs.assign(concat.getValues().begin(), concat.getValues().end());
    Value result = Splitter(conv, rewriter).split(inputs);
    if (!result)
      return rewriter.notifyMatchFailure(conv, "nothing that was enlarged goes in");
    rewriter.replaceOp(conv, result);
    return success();
  }
};

struct FoldResizePass : impl::FoldResizePassBase<FoldResizePass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldResize>(&getContext());
    if (failed(applyPatternsAndFoldGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace ingot
