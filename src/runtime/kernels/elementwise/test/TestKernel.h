// Runs one kernel outside of a program: tensors in, tensors out.
#pragma once

#include "runtime/Kernel.h"
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <random>
#include <typeinfo>

namespace ingot::test {

struct Tensor {
  TensorDesc desc;
  std::shared_ptr<std::vector<std::byte>> bytes;
  int64_t first = 0; ///< element of `bytes` that is the tensor's first

  template <typename T> T *data() const { return reinterpret_cast<T *>(bytes->data()) + first; }
  void *address() const { return bytes->data() + first * static_cast<int64_t>(byteSize(desc.dtype)); }

  /// Element number `i` in row-major order.
  int64_t offset(int64_t i) const {
    int64_t result = 0;
    for (size_t d = desc.sizes.size(); d-- > 0;) {
      result += i % desc.sizes[d] * desc.strides[d];
      i /= desc.sizes[d];
    }
    return result;
  }
  double at(int64_t i) const {
    auto value = dispatchType < RealTypes | Float8Types > ("test", desc.dtype, [&]<typename T>() {
                                              return Result<double>(scalar::cast<double>(data<T>()[offset(i)]));
                                            });
    return *value;
  }
  void set(int64_t i, double value) const {
    auto done = dispatchType < RealTypes | Float8Types > ("test", desc.dtype, [&]<typename T>() {
                                             data<T>()[offset(i)] = scalar::cast<T>(value);
                                             return Status();
                                           });
    EXPECT_TRUE(done);
  }
  std::vector<double> values() const {
    std::vector<double> result;
    for (int64_t i = 0; i < desc.numel(); ++i)
      result.push_back(at(i));
    return result;
  }
};

inline Tensor empty(TensorDesc desc) {
  int64_t elements = 1;
  for (size_t i = 0; i < desc.sizes.size(); ++i)
    elements += std::max<int64_t>(0, desc.sizes[i] - 1) * desc.strides[i];
  const size_t bytes = static_cast<size_t>(elements) * byteSize(desc.dtype);
  return {std::move(desc), std::make_shared<std::vector<std::byte>>(bytes), 0};
}

inline Tensor filled(TensorDesc desc, const std::vector<double> &values) {
  Tensor tensor = empty(std::move(desc));
  for (int64_t i = 0; i < tensor.desc.numel(); ++i)
    tensor.set(i, values[static_cast<size_t>(i) % values.size()]);
  return tensor;
}

inline Tensor tensor(std::vector<int64_t> sizes, const std::vector<double> &values, DType dtype = DType::Float32) {
  return filled(TensorDesc::contiguous(dtype, std::move(sizes)), values);
}

/// Numbers in [-1, 1), or small integers.
inline Tensor noise(TensorDesc desc, unsigned seed) {
  std::mt19937 random(seed);
  Tensor tensor = empty(std::move(desc));
  const bool isFloat = byteSize(tensor.desc.dtype) > 1 && tensor.desc.dtype != DType::Int64 &&
                       tensor.desc.dtype != DType::Int32 && tensor.desc.dtype != DType::Int16;
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int64_t i = 0; i < tensor.desc.numel(); ++i)
    tensor.set(i, isFloat ? uniform(random) : tensor.desc.dtype == DType::Bool ? random() % 2 : random() % 9);
  return tensor;
}

inline Tensor noise(std::vector<int64_t> sizes, unsigned seed, DType dtype = DType::Float32) {
  return noise(TensorDesc::contiguous(dtype, std::move(sizes)), seed);
}

/// Multiples of a quarter in [-1, 1], which bfloat16 has.
inline Tensor quarters(std::vector<int64_t> sizes, unsigned seed) {
  Tensor tensor = noise(std::move(sizes), seed);
  for (int64_t i = 0; i < tensor.desc.numel(); ++i)
    tensor.set(i, std::round(4 * tensor.at(i)) / 4);
  return tensor;
}

/// Multiples of 1/128 between -127/128 and 127/128.
inline Tensor sevenBits(std::vector<int64_t> sizes, unsigned seed) {
  Tensor tensor = noise(std::move(sizes), seed);
  for (int64_t i = 0; i < tensor.desc.numel(); ++i)
    tensor.set(i, std::round(127 * tensor.at(i)) / 128);
  return tensor;
}

/// The same elements in another memory order.
inline Tensor inOrder(const Tensor &tensor, const std::vector<int64_t> &order) {
  Tensor result = empty(TensorDesc::dense(tensor.desc.dtype, tensor.desc.sizes, order));
  for (int64_t i = 0; i < tensor.desc.numel(); ++i)
    result.set(i, tensor.at(i));
  return result;
}

using BindFunction = Result<std::unique_ptr<BoundKernel>> (*)(const StepContext &, std::span<const TensorDesc>);

/// One step: operands in order, attributes, the types of results.
struct Case {
  std::string kernel;
  std::vector<std::optional<Tensor>> operands{};
  Attributes attributes{};
  std::vector<DType> resultTypes{DType::Float32};
  std::vector<bool> isConstant{};     ///< by operand
  std::vector<ScalarValue> scalars{}; ///< operands after the tensors
  Precision precision = Precision::Highest;
  Method method = Method::Usual;

  /// With `bind`, another implementation than the kernel's choice.
  Result<std::vector<Tensor>> run(BindFunction bind = nullptr) const {
    std::vector<TensorDesc> layouts;
    INGOT_TRY(auto bound, this->bind(bind, layouts));
    return execute(*bound, layouts);
  }

  /// The class of the kernel's choice: fast ones must not give way to the reference unnoticed.
  std::string implementation() const {
    std::vector<TensorDesc> layouts;
    auto bound = bind(nullptr, layouts);
    if (!bound)
      return bound.error().str();
    const BoundKernel &made = **bound;
    return typeid(made).name();
  }

private:
  Result<std::unique_ptr<BoundKernel>> bind(BindFunction function, std::vector<TensorDesc> &layouts) const {
    const KernelDef *def = findKernel(kernel);
    if (!def)
      return usageError("no kernel " + kernel);
    Step step;
    step.kernel = kernel;
    step.attributes = attributes;
    std::vector<Value> types;
    for (DType dtype : resultTypes)
      types.push_back({ValueKind::Tensor, dtype, {}});
    const std::vector<BoundOperand> bound = boundOperands();
    StepContext context{step, types, bound, {}, precision, method};
    INGOT_TRY(auto descs, def->infer(context));
    for (const ResultDesc &desc : descs)
      layouts.push_back(desc.desc);
    return (function ? function : def->bind)(context, layouts);
  }

  std::vector<BoundOperand> boundOperands() const {
    std::vector<BoundOperand> bound;
    for (size_t i = 0; i < operands.size(); ++i) {
      BoundOperand operand;
      if (operands[i]) {
        operand.present = true;
        operand.desc = operands[i]->desc;
        if (i < isConstant.size() && isConstant[i])
          operand.data = operands[i]->address();
      }
      bound.push_back(operand);
    }
    for (const ScalarValue &scalar : scalars) {
      BoundOperand operand;
      operand.present = true;
      operand.scalar = scalar;
      bound.push_back(operand);
    }
    return bound;
  }

  Result<std::vector<Tensor>> execute(const BoundKernel &kernel_, const std::vector<TensorDesc> &layouts) const {
    std::vector<Tensor> results;
    std::vector<void *> in, out;
    for (const auto &operand : operands)
      in.push_back(operand ? operand->address() : nullptr);
    for (const TensorDesc &layout : layouts) {
      results.push_back(empty(layout));
      out.push_back(results.back().address());
    }
    const size_t bytes = (kernel_.scratchBytes() + 127) / 64 * 64;
    std::unique_ptr<void, decltype(&std::free)> scratch(std::aligned_alloc(64, bytes), &std::free);
    INGOT_CHECK(kernel_.run({in, out, scratch.get()}));
    return results;
  }
};

inline void expectNear(const Tensor &got, const Tensor &want, double tolerance) {
  ASSERT_EQ(got.desc.sizes, want.desc.sizes);
  for (int64_t i = 0; i < got.desc.numel(); ++i) {
    const double a = got.at(i), b = want.at(i);
    if (a == b || (a != a && b != b))
      continue;
    ASSERT_LE(std::abs(a - b), tolerance * std::max(1.0, std::abs(b))) << "element " << i << ": " << a << " and " << b;
  }
}

/// The kernel's own choice agrees with the reference.
inline void expectSameAs(const Case &testCase, BindFunction reference, double tolerance) {
  auto got = testCase.run(), want = testCase.run(reference);
  ASSERT_TRUE(got) << got.error().str();
  ASSERT_TRUE(want) << want.error().str();
  ASSERT_EQ(got->size(), want->size());
  for (size_t i = 0; i < got->size(); ++i)
    expectNear((*got)[i], (*want)[i], tolerance);
}

/// The same, and the choice is the implementation called `name`.
inline void expectFast(const Case &testCase, const char *name, BindFunction reference, double tolerance) {
  EXPECT_NE(testCase.implementation().find(name), std::string::npos) << testCase.implementation();
  expectSameAs(testCase, reference, tolerance);
}

} // namespace ingot::test
