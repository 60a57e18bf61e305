// Small plans for tests, and compiled functions for their clusters.
#pragma once

#include "runtime/Kernel.h"
#include "runtime/Plan.h"
#include "runtime/Program.h"

#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <numeric>

namespace ingot::test {

inline constexpr int64_t kDynamicEntry = INT64_MIN;

/// The compiled functions of tests, with the types that they are for.
inline const std::string kAdd = "add_e_ll_l", kTwice = "twice_e_l_l", kCenter = "center_r_l_ll";

/// Builds one function, value by value.
struct FunctionBuilder {
  Function function;

  explicit FunctionBuilder(std::string name = "forward") { function.name = std::move(name); }

  ValueId value(ValueKind kind, DType dtype, std::vector<int64_t> shape) {
    function.values.push_back({kind, dtype, std::move(shape)});
    return static_cast<ValueId>(function.values.size() - 1);
  }
  ValueId tensor(std::vector<int64_t> shape, DType dtype = DType::Float32) {
    return value(ValueKind::Tensor, dtype, std::move(shape));
  }
  ValueId scalar(DType dtype = DType::Int64) { return value(ValueKind::Scalar, dtype, {}); }

  ValueId input(std::string name, std::vector<int64_t> shape, std::vector<std::string> dims = {},
                DType dtype = DType::Float32) {
    ValueId id = tensor(std::move(shape), dtype);
    function.inputs.push_back({std::move(name), id, std::move(dims), ""});
    return id;
  }
  template <typename T> ValueId constant(const std::vector<T> &data, std::vector<int64_t> shape, DType dtype) {
    ValueId id = tensor(std::move(shape), dtype);
    Constant constant{id, "", {}};
    constant.bytes.resize(data.size() * sizeof(T));
    std::memcpy(constant.bytes.data(), data.data(), constant.bytes.size());
    function.constants.push_back(std::move(constant));
    return id;
  }
  ValueId add(std::vector<Step> &steps, const std::string &kernel, std::vector<ValueId> operands, ValueId result,
              Attributes attributes) {
    steps.push_back({kernel, std::move(operands), {result}, std::move(attributes), "node_" + kernel, "model.py:7"});
    return result;
  }
  ValueId step(const std::string &kernel, std::vector<ValueId> operands, ValueId result, Attributes attributes = {}) {
    return add(function.steps, kernel, std::move(operands), result, std::move(attributes));
  }
  ValueId prologue(const std::string &kernel, std::vector<ValueId> operands, ValueId result,
                   Attributes attributes = {}) {
    return add(function.prologue, kernel, std::move(operands), result, std::move(attributes));
  }
  ValueId cluster(const std::string &symbol, std::vector<ValueId> operands, ValueId result) {
    return step("cluster", std::move(operands), result, {{"symbol", symbol}});
  }
  void output(std::string name, ValueId id) { function.outputs.push_back({std::move(name), id, ""}); }
};

template <typename Fn>
void elementwise(void *const *p, int64_t n0, int64_t n1, const int64_t *s0, const int64_t *s1, Fn fn) {
  auto at = [&](int t, int64_t i, int64_t j) -> float & { return static_cast<float *>(p[t])[i * s0[t] + j * s1[t]]; };
  for (int64_t i = 0; i < n0; ++i)
    for (int64_t j = 0; j < n1; ++j)
      fn([&](int t) -> float & { return at(t, i, j); });
}

inline void addFunction(void *const *p, int64_t n0, int64_t n1, const int64_t *s0, const int64_t *s1) {
  elementwise(p, n0, n1, s0, s1, [](auto at) { at(2) = at(0) + at(1); });
}
inline void twiceFunction(void *const *p, int64_t n0, int64_t n1, const int64_t *s0, const int64_t *s1) {
  elementwise(p, n0, n1, s0, s1, [](auto at) { at(1) = 2 * at(0); });
}
/// operand 0 minus its row's mean; result 0 whole rows, result 1 the mean.
inline void centerFunction(void *const *p, int64_t n0, int64_t n1, const int64_t *s0, const int64_t *s1) {
  auto at = [&](int t, int64_t i, int64_t j) -> float & { return static_cast<float *>(p[t])[i * s0[t] + j * s1[t]]; };
  for (int64_t i = 0; i < n0; ++i) {
    float sum = 0;
    for (int64_t j = 0; j < n1; ++j)
      sum += at(0, i, j);
    for (int64_t j = 0; j < n1; ++j)
      at(1, i, j) = at(0, i, j) - sum / static_cast<float>(n1);
    at(2, i, 0) = sum / static_cast<float>(n1);
  }
}

inline void *findTestSymbol(const std::string &symbol) {
  if (symbol == kAdd)
    return reinterpret_cast<void *>(addFunction);
  if (symbol == kTwice)
    return reinterpret_cast<void *>(twiceFunction);
  if (symbol == kCenter)
    return reinterpret_cast<void *>(centerFunction);
  return nullptr;
}

inline ProgramSource sourceOf(Function function) {
  ProgramSource source;
  source.plan.functions.push_back(std::move(function));
  source.findSymbol = findTestSymbol;
  return source;
}

template <typename T> std::vector<T> count(int64_t n, T first = T()) {
  std::vector<T> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), first);
  return values;
}

inline TensorView viewOf(std::vector<float> &data, std::vector<int64_t> sizes) {
  return {data.data(), TensorDesc::contiguous(DType::Float32, std::move(sizes))};
}

template <typename T = float> std::vector<T> contentOf(const OutputTensor &output) {
  const T *data = reinterpret_cast<const T *>(output.data.get());
  return {data, data + output.desc.numel()};
}

#define ASSERT_OK(expr)                                                                                                \
  do {                                                                                                                 \
    auto &&status_ = (expr);                                                                                           \
    ASSERT_TRUE(static_cast<bool>(status_)) << status_.error().str();                                                  \
  } while (false)

} // namespace ingot::test
