// The reference: any type, any strides.
#include "runtime/kernels/elementwise/Dispatch.h"
#include "runtime/kernels/elementwise/Simd.h"
#include "runtime/kernels/matmul/Problem.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <array>

namespace ingot {
namespace {

/// Columns computed together: long enough to vectorise, short enough for the stack.
constexpr int64_t kColumns = 64;

/// Strides of a tensor for a result's dimensions: 0 where it is repeated.
std::vector<int64_t> stridesFor(const TensorDesc &tensor, size_t rank) {
  std::vector<int64_t> strides(rank, 0);
  const size_t missing = rank - tensor.sizes.size();
  for (size_t i = 0; i < tensor.sizes.size(); ++i)
    if (tensor.sizes[i] != 1)
      strides[missing + i] = tensor.strides[i];
  return strides;
}

/// Rows from which on columns of b are worth a copy.
constexpr int64_t kManyRows = 4;

/// sums[j] += a[k] * panel[k][j], for kColumns columns.
INGOT_SIMD void addProducts(double *__restrict sums, const double *__restrict a, int64_t step,
                            const double *__restrict panel, int64_t depth) {
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t j = 0; j < kColumns; ++j)
      sums[j] += a[k * step] * panel[k * kColumns + j];
}

/// Whole numbers wrap around.
INGOT_SIMD void addProducts(int64_t *__restrict sums, const int64_t *__restrict a, int64_t step,
                            const int64_t *__restrict panel, int64_t depth) {
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t j = 0; j < kColumns; ++j)
      sums[j] =
          static_cast<int64_t>(static_cast<uint64_t>(sums[j]) +
                               static_cast<uint64_t>(a[k * step]) * static_cast<uint64_t>(panel[k * kColumns + j]));
}

template <typename T, typename C> void addProducts(C *sums, const T *a, int64_t step, const C *panel, int64_t depth) {
  for (int64_t k = 0; k < depth; ++k) {
    const C left = scalar::cast<C>(a[k * step]);
    for (int64_t j = 0; j < kColumns; ++j)
      sums[j] = scalar::add(sums[j], scalar::mul(left, panel[k * kColumns + j]));
  }
}

template <typename T> class ReferenceMatmul final : public BoundKernel {
  using C = scalar::Compute<T>;

public:
  explicit ReferenceMatmul(const MatmulProblem &problem) : problem(problem) {
    const size_t rank = problem.result.sizes.size();
    aStrides = stridesFor(problem.a, rank);
    bStrides = stridesFor(problem.b, rank);
    if (problem.bias)
      biasStrides = stridesFor(*problem.bias, rank);
    if (problem.residual)
      residualStrides = stridesFor(*problem.residual, rank);
  }

  std::string_view method() const override { return "reference"; }

  Status run(const KernelArgs &args) const override {
    if (problem.n == 0)
      return {};
    if (problem.m >= kManyRows) {
      runColumns(args);
      return {};
    }
    const int64_t rows = problem.result.numel() / problem.n;
    const int64_t grain = std::max<int64_t>(1, 32768 / std::max<int64_t>(1, problem.n * problem.k));
    parallelFor(0, rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row)
        for (int64_t column = 0; column < problem.n; column += kColumns)
          block(args, row, column, std::min(kColumns, problem.n - column));
    });
    return {};
  }

private:
  /// Some columns of one matrix after the other: those of b are copied, and used by all rows.
  void runColumns(const KernelArgs &args) const {
    const int64_t blocks = (problem.n + kColumns - 1) / kColumns;
    const int64_t batches = problem.result.numel() / problem.n / problem.m;
    parallelFor(0, batches * blocks, 1, [&](int64_t begin, int64_t end) {
      std::vector<C> panel(static_cast<size_t>(problem.k * kColumns));
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = i / blocks * problem.m, column = i % blocks * kColumns;
        const int64_t count = std::min(kColumns, problem.n - column);
        packColumns(args, row, column, count, panel.data());
        for (int64_t j = 0; j < problem.m; ++j) {
          std::array<C, kColumns> sums{};
          addProducts(sums.data(), operand(args, MatmulA) + rowOffset(aStrides, row + j), problem.a.strides.back(),
                      static_cast<const C *>(panel.data()), problem.k);
          finish(args, row + j, column, count, sums);
        }
      }
    });
  }

  /// Columns of b for row `row` of the result, and zeros.
  void packColumns(const KernelArgs &args, int64_t row, int64_t column, int64_t count, C *panel) const {
    const int64_t step = problem.b.strides[problem.b.strides.size() - 2], next = problem.b.strides.back();
    const T *b = operand(args, MatmulB) + matrixOffset(row) + column * next;
    for (int64_t k = 0; k < problem.k; ++k)
      for (int64_t j = 0; j < kColumns; ++j)
        panel[k * kColumns + j] = j < count ? scalar::cast<C>(b[k * step + j * next]) : C(0);
  }

  /// The first element of b's matrix for row `row` of the result.
  int64_t matrixOffset(int64_t row) const {
    std::vector<int64_t> strides = bStrides;
    strides[strides.size() - 2] = 0; // the row of the result is no row of b
    return rowOffset(strides, row);
  }

  /// First element of row `row` of the result's shape, for a tensor with these strides.
  int64_t rowOffset(const std::vector<int64_t> &strides, int64_t row) const {
    int64_t offset = 0;
    for (size_t d = strides.size() - 1; d-- > 0;) {
      offset += row % problem.result.sizes[d] * strides[d];
      row /= problem.result.sizes[d];
    }
    return offset;
  }

  const T *operand(const KernelArgs &args, size_t index) const { return static_cast<const T *>(args.operands[index]); }

  void block(const KernelArgs &args, int64_t row, int64_t column, int64_t count) const {
    const int64_t aStep = problem.a.strides.back(), bStep = problem.b.strides[problem.b.strides.size() - 2];
    const int64_t bColumn = problem.b.strides.back();
    const T *a = operand(args, MatmulA) + rowOffset(aStrides, row);
    const T *b = operand(args, MatmulB) + matrixOffset(row) + column * bColumn;
    std::array<C, kColumns> sums{};
    for (int64_t k = 0; k < problem.k; ++k) {
      const C left = scalar::cast<C>(a[k * aStep]);
      for (int64_t j = 0; j < count; ++j)
        sums[j] = scalar::add(sums[j], scalar::mul(left, scalar::cast<C>(b[k * bStep + j * bColumn])));
    }
    finish(args, row, column, count, sums);
  }

  void finish(const KernelArgs &args, int64_t row, int64_t column, int64_t count,
              const std::array<C, kColumns> &sums) const {
    T *result = static_cast<T *>(args.results[0]) + row * problem.n + column;
    for (int64_t j = 0; j < count; ++j) {
      C value = sums[j];
      if (problem.bias)
        value = scalar::add(value, extra(args, MatmulBias, biasStrides, row, column + j));
      if constexpr (scalar::Real<C>)
        value = activate(problem.activation, value);
      if (problem.residual)
        value = scalar::add(value, extra(args, MatmulResidual, residualStrides, row, column + j));
      result[j] = scalar::cast<T>(value);
    }
  }

  C extra(const KernelArgs &args, size_t index, const std::vector<int64_t> &strides, int64_t row,
          int64_t column) const {
    return scalar::cast<C>(operand(args, index)[rowOffset(strides, row) + column * strides.back()]);
  }

  MatmulProblem problem;
  std::vector<int64_t> aStrides, bStrides, biasStrides, residualStrides;
};

} // namespace

std::unique_ptr<BoundKernel> makeReferenceMatmul(const MatmulProblem &problem) {
  const DType dtype = problem.a.dtype == DType::Bool ? DType::UInt8 : problem.a.dtype; // zeros are alike
  auto made = dispatchType < IntTypes | FloatTypes |
              ComplexTypes > ("matmul", dtype, [&]<typename T>() {
                return Result<std::unique_ptr<BoundKernel>>(std::make_unique<ReferenceMatmul<T>>(problem));
              });
  return made ? *std::move(made) : nullptr; // the types were checked before
}

} // namespace ingot
