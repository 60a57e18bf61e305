// torch.autocast on the CPU, made explicit. Nodes of the region were exported with the dtypes that autocast gives, but
// without the conversions that it does on the way.
#include "import/Carrier.h"
#include "passes/functionalise/InPlace.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ingot {
namespace {

/// Operators that autocast runs in the narrow type.
bool runsNarrow(StringRef name) {
  static const llvm::StringSet<> names = {
      "aten::conv1d",
      "aten::conv2d",
      "aten::conv3d",
      "aten::conv_transpose1d",
      "aten::conv_transpose2d",
      "aten::conv_transpose3d",
      "aten::conv_tbc",
      "aten::_convolution",
      "aten::linear",
      "aten::matmul",
      "aten::mm",
      "aten::bmm",
      "aten::addmm",
      "aten::addbmm",
      "aten::baddbmm",
      "aten::linalg_vecdot",
      "aten::linalg_multi_dot",
      "aten::scaled_dot_product_attention",
  };
  return names.contains(name);
}

/// Operators that autocast runs in float32.
bool runsWide(StringRef name) {
  static const llvm::StringSet<> names = {
      "aten::avg_pool3d",
      "aten::adaptive_avg_pool3d",
      "aten::max_pool3d",
      "aten::max_unpool2d",
      "aten::max_unpool3d",
      "aten::reflection_pad1d",
      "aten::reflection_pad2d",
      "aten::replication_pad1d",
      "aten::replication_pad2d",
      "aten::replication_pad3d",
      "aten::grid_sampler",
      "aten::grid_sampler_2d",
      "aten::grid_sampler_3d",
      "aten::binary_cross_entropy",
      "aten::binary_cross_entropy_with_logits",
      "aten::mse_loss",
      "aten::l1_loss",
      "aten::smooth_l1_loss",
      "aten::huber_loss",
      "aten::nll_loss",
      "aten::nll_loss_nd",
      "aten::nll_loss2d",
      "aten::cross_entropy_loss",
      "aten::kl_div",
      "aten::ctc_loss",
      "aten::cosine_embedding_loss",
      "aten::hinge_embedding_loss",
      "aten::poisson_nll_loss",
      "aten::margin_ranking_loss",
      "aten::soft_margin_loss",
      "aten::triplet_margin_loss",
      "aten::multi_margin_loss",
      "aten::multilabel_margin_loss",
      "aten::prod",
      "aten::quantile",
      "aten::nanquantile",
      "aten::stft",
      "aten::cdist",
      "aten::trace",
      "aten::polar",
      "aten::view_as_complex",
      "aten::cholesky",
      "aten::cholesky_inverse",
      "aten::cholesky_solve",
      "aten::inverse",
      "aten::lu_solve",
      "aten::orgqr",
      "aten::ormqr",
      "aten::pinverse",
  };
  return names.contains(name) || name.starts_with("aten::fft_") ||
         (name.starts_with("aten::linalg_") && name != "aten::linalg_vecdot" && name != "aten::linalg_multi_dot" &&
          name != "aten::linalg_vector_norm");
}

void castOperands(AtenOp op, Type wanted) {
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    // float64 and integers are left alone, as autocast does.
    if (!type || type.getElementType() == wanted || !isa<FloatType>(type.getElementType()) ||
        type.getElementTypeBitWidth() > 32)
      continue;
    Value cast = CarrierBuilder(builder, op.getLoc(), "aten::_to_copy")
                     .arg("self", operand.get())
                     .arg("dtype", TypeAttr::get(wanted))
                     .value(type.clone(wanted));
    operand.set(cast);
  }
}

} // namespace

void applyAutocast(AtenOp op, Type narrow) {
  StringRef name = TargetName(op.getTarget()).name;
  if (runsNarrow(name))
    castOperands(op, narrow);
  else if (runsWide(name))
    castOperands(op, Float32Type::get(op.getContext()));
}

} // namespace ingot
