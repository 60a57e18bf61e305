// Complex literals, which Number does not have.
#pragma once

#include "lower/Lowering.h"

#include <complex>

namespace ingot::lower {

/// A zero-dimensional tensor of the complex type `dtype`.
inline mlir::Value complexConstant(LowerContext &ctx, double real, double imaginary, mlir::Type dtype) {
  auto part = mlir::cast<mlir::FloatType>(mlir::cast<mlir::ComplexType>(dtype).getElementType());
  auto convert = [&](double number) {
    llvm::APFloat value(number);
    bool losesInfo = false;
    value.convert(part.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return value;
  };
  std::complex<llvm::APFloat> value(convert(real), convert(imaginary));
  auto type = mlir::RankedTensorType::get({}, dtype);
  auto elements = mlir::DenseElementsAttr::get(type, llvm::ArrayRef<std::complex<llvm::APFloat>>(value));
  return ctx.create<ConstantOp>(type, elements).getResult();
}

} // namespace ingot::lower
