#include "import/Sharing.h"

#include <gmock/gmock.h>

namespace ingot {
namespace {

using Answer = Sharing::Answer;

pt2::SymInt symbol(const std::string &name, int64_t example) {
  return pt2::SymExprText{"Symbol('" + name + "', integer=True)", example};
}

pt2::SymInt product(const std::string &name, int64_t factor, int64_t example) {
  return pt2::SymExprText{"Mul(Integer(" + std::to_string(factor) + "), Symbol('" + name + "', integer=True))",
                          example};
}

pt2::TensorMeta tensor(std::vector<pt2::SymInt> sizes, std::vector<pt2::SymInt> strides) {
  pt2::TensorMeta meta;
  meta.sizes = std::move(sizes);
  meta.strides = std::move(strides);
  return meta;
}

TEST(SharingTest, knownSizesHaveOneAnswer) {
  pt2::TensorMeta flat = tensor({8}, {1});
  EXPECT_EQ(sharingOf(tensor({2, 4}, {4, 1}), flat, SharingRule::Reshape)->answer, Answer::Yes);
  EXPECT_EQ(sharingOf(tensor({4, 2}, {1, 4}), flat, SharingRule::Reshape)->answer, Answer::No);
  EXPECT_EQ(sharingOf(tensor({8, 1}, {1, 8}), flat, SharingRule::Reshape)->answer, Answer::Yes);
  EXPECT_EQ(sharingOf(tensor({4, 2}, {1, 4}), tensor({4, 2}, {2, 1}), SharingRule::Contiguous)->answer, Answer::No);
  EXPECT_EQ(sharingOf(tensor({4, 2}, {2, 1}), tensor({4, 2}, {2, 1}), SharingRule::Contiguous)->answer, Answer::Yes);
  // A column of a matrix can be seen as a vector, but ravel wants it to be contiguous.
  EXPECT_EQ(sharingOf(tensor({8, 1}, {2, 1}), flat, SharingRule::Reshape)->answer, Answer::Yes);
  EXPECT_EQ(sharingOf(tensor({8, 1}, {2, 1}), flat, SharingRule::Ravel)->answer, Answer::No);
  EXPECT_EQ(sharingOf(tensor({8, 1}, {1, 8}), flat, SharingRule::Ravel)->answer, Answer::Yes);
}

TEST(SharingTest, symbolsAreMoreThanOne) {
  pt2::TensorMeta flat = tensor({product("s0", 4, 12)}, {1});
  std::optional<Sharing> row = sharingOf(tensor({symbol("s0", 3), 4}, {4, 1}), flat, SharingRule::Reshape);
  ASSERT_TRUE(row);
  EXPECT_EQ(row->answer, Answer::Yes);
  EXPECT_THAT(row->notOne, testing::IsEmpty());
  std::optional<Sharing> turned = sharingOf(tensor({4, symbol("s0", 3)}, {1, 4}), flat, SharingRule::Reshape);
  ASSERT_TRUE(turned);
  EXPECT_EQ(turned->answer, Answer::No);
  EXPECT_THAT(turned->notOne, testing::ElementsAre("s0"));
}

TEST(SharingTest, sizesMayBeOneWhereSymbolsAreNot) {
  // x[1:] of two columns that lie apart: one row is a view.
  pt2::SymInt rows = pt2::SymExprText{"Add(Symbol('s0'), Integer(-1))", int64_t{2}};
  pt2::SymInt elements = pt2::SymExprText{"Add(Mul(Integer(2), Symbol('s0')), Integer(-2))", int64_t{4}};
  std::optional<Sharing> cut = sharingOf(tensor({rows, 2}, {6, 1}), tensor({elements}, {1}), SharingRule::Reshape);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->answer, Answer::No);
  EXPECT_THAT(cut->notOne, testing::ElementsAre("s0 - 1"));
}

TEST(SharingTest, theExampleMayBeAnException) {
  // x[:, :4] of a tensor that has 4 columns in the example only.
  std::optional<Sharing> cut = sharingOf(tensor({2, 4}, {symbol("s0", 4), 1}), tensor({8}, {1}), SharingRule::Reshape);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->answer, Answer::Varies);
}

TEST(SharingTest, whatIsNotKnownHasNoAnswer) {
  pt2::SymInt unknown = pt2::SymExprText{"Mystery(Symbol('s0'))", {}};
  EXPECT_FALSE(sharingOf(tensor({unknown}, {1}), tensor({unknown}, {1}), SharingRule::Reshape));
  EXPECT_FALSE(sharingOf(tensor({2, 3}, {1}), tensor({6}, {1}), SharingRule::Reshape));
}

} // namespace
} // namespace ingot
