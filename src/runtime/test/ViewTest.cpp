#include "runtime/kernels/view/View.h"
#include "runtime/TensorDesc.h"
#include "runtime/kernels/view/StridedCopy.h"
#include "runtime/test/TestPlan.h"
#include "runtime/threads/Pool.h"

#include <gmock/gmock.h>
#include <random>

namespace ingot::test {
namespace {

/// Calls visit(flat row-major index, offset of the element) for all elements.
template <typename Visit> void forEachElement(const TensorDesc &desc, Visit visit) {
  std::vector<int64_t> index(desc.sizes.size(), 0);
  int64_t count = desc.numel();
  for (int64_t n = 0; n < count; ++n) {
    int64_t offset = 0;
    for (size_t i = 0; i < index.size(); ++i)
      offset += index[i] * desc.strides[i];
    visit(n, offset);
    for (size_t i = index.size(); i-- > 0;) {
      if (++index[i] < desc.sizes[i])
        break;
      index[i] = 0;
    }
  }
}

/// A tensor of some layout over memory that counts from 0.
struct Sample {
  std::vector<float> memory;
  TensorDesc desc;
  int64_t first = 0;

  std::vector<float> elements() const {
    std::vector<float> out;
    forEachElement(desc, [&](int64_t, int64_t offset) { out.push_back(memory[static_cast<size_t>(first + offset)]); });
    return out;
  }
};

Sample randomSample(std::mt19937 &random, int64_t maxSize = 9) {
  size_t rank = random() % 5;
  std::vector<int64_t> sizes, order;
  for (size_t i = 0; i < rank; ++i) {
    sizes.push_back(static_cast<int64_t>(1 + random() % static_cast<unsigned>(maxSize)));
    order.push_back(static_cast<int64_t>(i));
  }
  std::shuffle(order.begin(), order.end(), random);
  Sample sample;
  sample.desc = TensorDesc::dense(DType::Float32, sizes, order);
  if (rank > 0 && random() % 2) { // gaps, broadcasts, reversed dimensions
    size_t i = random() % rank;
    for (int64_t &stride : sample.desc.strides)
      stride *= 2;
    sample.desc.strides[i] = random() % 2 ? 0 : -sample.desc.strides[i];
  }
  std::optional<Extent> extent = checkedExtent(sample.desc);
  sample.first = -extent->begin;
  sample.memory = count<float>(extent->end - extent->begin);
  return sample;
}

TEST(StridedCopy, MatchesNaiveLoops) {
  std::mt19937 random(1);
  for (int threads : {1, 3}) {
    setNumThreads(threads);
    for (int round = 0; round < 300; ++round) {
      Sample sample = randomSample(random, round % 10 == 0 ? 70 : 9);
      if (sample.desc.numel() > 200000)
        continue;
      TensorDesc target = TensorDesc::contiguous(DType::Float32, sample.desc.sizes);
      std::vector<float> out(static_cast<size_t>(target.numel()), -1);
      StridedCopy(target.sizes, sample.desc.strides, target.strides, 4)
          .run(sample.memory.data() + sample.first, out.data());
      ASSERT_EQ(out, sample.elements()) << shapeText(sample.desc.sizes) << shapeText(sample.desc.strides);
    }
  }
  setNumThreads(0);
}

template <typename T> void expectTranspose(int64_t rows, int64_t columns) {
  std::vector<T> src(static_cast<size_t>(rows * columns)), dst(src.size());
  auto *bytes = reinterpret_cast<uint8_t *>(src.data());
  for (size_t i = 0; i < src.size() * sizeof(T); ++i)
    bytes[i] = static_cast<uint8_t>(i * 31 + i / 251);
  StridedCopy(std::vector{columns, rows}, std::vector<int64_t>{1, columns}, std::vector<int64_t>{rows, 1}, sizeof(T))
      .run(src.data(), dst.data());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      ASSERT_EQ(0, std::memcmp(&src[static_cast<size_t>(i * columns + j)], &dst[static_cast<size_t>(j * rows + i)],
                               sizeof(T)))
          << rows << "x" << columns << " at " << i << "," << j;
}

TEST(StridedCopy, TransposesAllElementSizes) {
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{3, 1000}, {1000, 3}, {67, 129}, {32, 32}, {5, 7}}) {
    expectTranspose<uint8_t>(rows, columns);
    expectTranspose<uint16_t>(rows, columns);
    expectTranspose<uint32_t>(rows, columns);
    expectTranspose<uint64_t>(rows, columns);
    expectTranspose<std::array<uint64_t, 2>>(rows, columns);
  }
}

TEST(Reshape, StridesShowTheSameElements) {
  std::mt19937 random(2);
  int views = 0;
  for (int round = 0; round < 2000; ++round) {
    Sample sample = randomSample(random, 4);
    // Random factors of the number of elements.
    std::vector<int64_t> sizes;
    int64_t rest = sample.desc.numel();
    while (rest > 1 || random() % 3 == 0) {
      int64_t factor = static_cast<int64_t>(1 + random() % 6);
      if (rest % factor == 0) {
        sizes.push_back(factor);
        rest /= factor;
      } else if (random() % 4 == 0) {
        sizes.push_back(rest);
        rest = 1;
      }
    }
    auto strides = reshapeStrides(sample.desc, sizes);
    if (!strides) {
      EXPECT_FALSE(sample.desc.isContiguous());
      continue;
    }
    ++views;
    Sample reshaped{sample.memory, {DType::Float32, sizes, *strides}, sample.first};
    ASSERT_EQ(reshaped.elements(), sample.elements());
  }
  EXPECT_GT(views, 500);
}

/// Runs one step on x (and maybe y) through a program and returns the result.
struct OneStep {
  std::vector<int64_t> xSizes, ySizes;
  std::string kernel;
  Attributes attributes;
  std::vector<int64_t> resultSizes;
  std::vector<int64_t> permute; ///< x is seen through this first, so that it is strided

  Result<std::vector<float>> run() const {
    FunctionBuilder b;
    ValueId x = b.input("x", xSizes);
    std::vector<float> xData = count<float>(TensorDesc::contiguous(DType::Float32, xSizes).numel());
    std::vector<float> yData = count<float>(TensorDesc::contiguous(DType::Float32, ySizes).numel(), 1000);
    std::vector<TensorView> inputs = {viewOf(xData, xSizes)};
    if (!permute.empty()) {
      std::vector<int64_t> sizes;
      for (int64_t dim : permute)
        sizes.push_back(xSizes[static_cast<size_t>(dim)]);
      x = b.step("permute", {x}, b.tensor(sizes), {{"dims", permute}});
    }
    std::vector<ValueId> operands = {x};
    if (!ySizes.empty()) {
      operands.push_back(b.input("y", ySizes));
      inputs.push_back(viewOf(yData, ySizes));
    }
    b.output("r", b.step(kernel, operands, b.tensor(resultSizes), attributes));
    INGOT_TRY(auto program, Program::create(sourceOf(b.function)));
    INGOT_TRY(auto outputs, program->run("", inputs));
    return contentOf(outputs[0]);
  }
};

void expectStep(const OneStep &step, const std::vector<float> &expected) {
  auto result = step.run();
  ASSERT_OK(result);
  EXPECT_EQ(*result, expected);
}

using Ints = std::vector<int64_t>;

TEST(ViewKernels, Reshape) {
  expectStep({{2, 3}, {}, "reshape", {{"sizes", Ints{3, 2}}}, {3, 2}, {}}, {0, 1, 2, 3, 4, 5});
  expectStep({{2, 3}, {}, "reshape", {{"sizes", Ints{6}}}, {6}, {1, 0}}, {0, 3, 1, 4, 2, 5});
  expectStep({{2, 3}, {}, "reshape", {{"sizes", Ints{-1}}}, {6}, {}}, {0, 1, 2, 3, 4, 5});
  EXPECT_FALSE((OneStep{{2, 3}, {}, "reshape", {{"sizes", Ints{5}}}, {5}, {}}).run());
  EXPECT_FALSE((OneStep{{2, 3}, {}, "reshape", {{"sizes", Ints{INT64_MIN}}}, {6}, {}}).run());
}

TEST(ViewKernels, ExpandPermuteFlip) {
  expectStep({{1, 3}, {}, "expand", {{"sizes", Ints{2, 2, 3}}}, {2, 2, 3}, {}}, {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2});
  EXPECT_FALSE((OneStep{{2, 3}, {}, "expand", {{"sizes", Ints{4, 3}}}, {4, 3}, {}}).run());
  EXPECT_FALSE((OneStep{{1, 1}, {}, "expand", {{"sizes", Ints{INT64_MAX, 3}}}, {kDynamic, 3}, {}}).run());
  expectStep({{2, 3}, {}, "permute", {{"dims", Ints{1, 0}}}, {3, 2}, {}}, {0, 3, 1, 4, 2, 5});
  EXPECT_FALSE((OneStep{{2, 3}, {}, "permute", {{"dims", Ints{1, 1}}}, {3, 3}, {}}).run());
  EXPECT_FALSE((OneStep{{2, 3}, {}, "permute", {{"dims", Ints{0, 7}}}, {2, 3}, {}}).run());
  expectStep({{2, 3}, {}, "flip", {{"dims", Ints{1}}}, {2, 3}, {}}, {2, 1, 0, 5, 4, 3});
  expectStep({{2, 3}, {}, "flip", {{"dims", Ints{0, 1}}}, {3, 2}, {1, 0}}, {5, 2, 4, 1, 3, 0});
  EXPECT_FALSE((OneStep{{2, 3}, {}, "flip", {{"dims", Ints{0, 0}}}, {2, 3}, {}}).run());
}

Attributes slice(int64_t axis, Ints bounds, int64_t step) {
  return {{"axis", axis}, {"bounds", std::move(bounds)}, {"step", step}};
}

TEST(ViewKernels, Slice) {
  expectStep({{2, 5}, {}, "slice", slice(1, {1, 5}, 2), {2, 2}, {}}, {1, 3, 6, 8});
  expectStep({{2, 5}, {}, "slice", slice(0, {1, 2}, 1), {1, 5}, {}}, {5, 6, 7, 8, 9});
  expectStep({{2, 5}, {}, "slice", slice(1, {3, 1}, 1), {2, 0}, {}}, {});
  expectStep({{5}, {}, "slice", slice(0, {2, INT64_MAX}, INT64_MAX), {1}, {}}, {2});
  EXPECT_FALSE((OneStep{{5}, {}, "slice", slice(0, {0, 5}, 0), {5}, {}}).run());
  EXPECT_FALSE((OneStep{{5}, {}, "slice", slice(1, {0, 5}, 1), {5}, {}}).run());
}

TEST(ViewKernels, InsertSlice) {
  expectStep({{2, 3}, {2, 1}, "insert_slice", slice(1, {1, 2}, 1), {2, 3}, {}}, {0, 1000, 2, 3, 1001, 5});
  expectStep({{2, 3}, {2, 2}, "insert_slice", slice(0, {0, 3}, 2), {3, 2}, {1, 0}}, {1000, 1001, 1, 4, 1002, 1003});
  EXPECT_FALSE((OneStep{{2, 3}, {2, 2}, "insert_slice", slice(1, {1, 2}, 1), {2, 3}, {}}).run());
}

TEST(ViewKernels, Concat) {
  expectStep({{2, 1}, {2, 2}, "concat", {{"axis", int64_t(1)}}, {2, 3}, {}}, {0, 1000, 1001, 1, 1002, 1003});
  expectStep({{2, 3}, {1, 2}, "concat", {{"axis", int64_t(0)}}, {4, 2}, {1, 0}}, {0, 3, 1, 4, 2, 5, 1000, 1001});
  expectStep({{2, 3}, {0}, "concat", {{"axis", int64_t(0)}}, {2, 3}, {}}, {0, 1, 2, 3, 4, 5});
  EXPECT_FALSE((OneStep{{2, 1}, {3, 2}, "concat", {{"axis", int64_t(1)}}, {2, 3}, {}}).run());
}

TEST(ViewKernels, AsStridedStaysInsideItsTensor) {
  auto strided = [](Ints sizes, Ints strides, int64_t offset) {
    return Attributes{{"sizes", std::move(sizes)}, {"strides", std::move(strides)}, {"offset", offset}};
  };
  expectStep({{2, 3}, {}, "as_strided", strided({2, 2}, {2, 1}, 1), {2, 2}, {}}, {1, 2, 3, 4});
  expectStep({{2, 3}, {}, "as_strided", strided({3}, {2}, 0), {3}, {1, 0}}, {0, 1, 2});
  EXPECT_FALSE((OneStep{{2, 3}, {}, "as_strided", strided({2, 2}, {4, 1}, 1), {2, 2}, {}}).run());
  EXPECT_FALSE((OneStep{{2, 3}, {}, "as_strided", strided({2}, {INT64_MAX}, 0), {2}, {}}).run());
  EXPECT_FALSE((OneStep{{2, 3}, {}, "as_strided", strided({1}, {1}, INT64_MAX), {1}, {}}).run());
  EXPECT_FALSE((OneStep{{2, 3}, {}, "as_strided", strided({1}, {1}, -1), {1}, {}}).run());
}

} // namespace
} // namespace ingot::test
