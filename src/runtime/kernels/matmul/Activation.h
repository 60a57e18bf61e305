// The activations that matmul and conv apply to their result.
#pragma once

#include "runtime/kernels/elementwise/Checks.h"
#include "runtime/kernels/elementwise/Scalar.h"

#include <array>

namespace ingot {

/// In the order of the dialect's enum.
enum class Activation : uint8_t { None, Relu, Relu6, Gelu, GeluTanh, Silu, Sigmoid, Tanh, HardSwish, HardSigmoid };

inline Result<Activation> activationAttr(const StepContext &context, std::string_view name = "activation") {
  static constexpr std::array<std::string_view, 10> keywords = {
      "none", "relu", "relu6", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh", "hard_swish", "hard_sigmoid"};
  INGOT_TRY(size_t position, keywordAttr(context, name, keywords));
  return static_cast<Activation>(position);
}

/// The reference. Integers only know the first three.
template <typename T> __attribute__((always_inline)) inline T activate(Activation activation, T x) {
  if (activation == Activation::None)
    return x;
  if (activation == Activation::Relu)
    return scalar::relu(x);
  if (activation == Activation::Relu6)
    return scalar::relu(x) > T(6) ? T(6) : scalar::relu(x);
  if constexpr (scalar::Float<T>) {
    switch (activation) {
    case Activation::Gelu:
      return scalar::gelu(x);
    case Activation::GeluTanh:
      return scalar::gelu_tanh(x);
    case Activation::Silu:
      return scalar::silu(x);
    case Activation::Sigmoid:
      return scalar::sigmoid(x);
    case Activation::Tanh:
      return scalar::tanh(x);
    case Activation::HardSwish:
      return scalar::hard_swish(x);
    case Activation::HardSigmoid:
      return scalar::hard_sigmoid(x);
    default:
      break;
    }
  }
  return x;
}

inline bool isFloating(DType dtype) {
  return dtype == DType::Float32 || dtype == DType::Float64 || dtype == DType::Float16 || dtype == DType::BFloat16;
}

} // namespace ingot
