// The table itself: names exist in PyTorch's schemas, none is there twice, functions are set.
#include "lower/Registry.h"
#include "pt2/Schema.h"

#include "llvm/ADT/StringSet.h"

#include <gtest/gtest.h>

namespace ingot::lower {
namespace {

TEST(Table, NamesAreOperators) {
  for (const Row &row : allRows()) {
    if (!row.name.starts_with("aten::"))
      continue;
    EXPECT_NE(pt2::findSchema(row.name.str()), nullptr) << row.name.str();
  }
}

TEST(Table, NamespacesAreKnown) {
  const llvm::StringSet<> known = {
      "aten",        "_operator", "torch",    "math", "higher_order", "quantized_decomposed",
      "torchvision", "torchao",   "torch_nn", "prims"};
  for (const Row &row : allRows()) {
    EXPECT_TRUE(known.contains(row.name.split("::").first)) << row.name.str();
  }
}

TEST(Table, NamesAreDistinct) {
  llvm::StringSet<> seen;
  for (const Row &row : allRows())
    EXPECT_TRUE(seen.insert(row.name).second) << row.name.str();
}

TEST(Table, NoOperatorWritesToItsArguments) {
  // Functionalisation comes first; a row for an in-place operator would never be reached, except for
  // the batch norms whose statistics stay as they are when not training.
  for (const Row &row : allRows()) {
    const pt2::OpSchema *schema = pt2::findSchema(row.name.str());
    if (schema && !row.name.contains("batch_norm"))
      EXPECT_FALSE(schema->isMutable()) << row.name.str();
  }
}

TEST(Table, RowsAreFound) {
  for (const Row &row : allRows()) {
    ASSERT_NE(row.lower, nullptr) << row.name.str();
    EXPECT_EQ(findRow(row.name), &row);
  }
  EXPECT_EQ(findRow("aten::no_such_operator"), nullptr);
}

} // namespace
} // namespace ingot::lower
