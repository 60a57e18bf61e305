#include "runtime/Methods.h"

#include "base/test/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <fstream>

namespace ingot::test {
namespace {

MethodTable example() {
  MethodTable table;
  table.set("conv a", Method::Winograd);
  table.set("matmul b", Method::OneDnn);
  return table;
}

TEST(Methods, HaveNames) {
  for (Method method : {Method::Usual, Method::Panels, Method::Winograd, Method::OneDnn})
    EXPECT_EQ(methodNamed(methodName(method)), method);
  EXPECT_EQ(methodNamed("fast"), std::nullopt);
}

TEST(Methods, AreFoundByProblem) {
  MethodTable table = example();
  EXPECT_EQ(table.find("conv a"), Method::Winograd);
  EXPECT_EQ(table.find("conv c"), Method::Usual);
  table.set("conv a", Method::Usual);
  table.set("matmul b", Method::Usual);
  EXPECT_EQ(table, MethodTable());
  EXPECT_EQ(MethodTable(Method::Panels).find("anything"), Method::Panels);
}

TEST(Methods, AreKeptInAFile) {
  TemporaryFolder folder;
  const std::string path = folder.file("methods.json");
  EXPECT_EQ(MethodTable::read(path, "key"), MethodTable());
  ASSERT_TRUE(example().write(path, "key"));
  EXPECT_EQ(MethodTable::read(path, "key"), example());
  EXPECT_EQ(MethodTable::read(path, "another program"), MethodTable());
}

TEST(Methods, OfFilesThatAreNotOursAreNone) {
  TemporaryFolder folder;
  const std::string path = folder.file("methods.json");
  for (const char *text :
       {"", "[]", "{", "null", R"({"format": 2, "program": "key", "methods": {"a": "panels"}})",
        R"({"format": 1, "program": 7, "methods": {"a": "panels"}})", R"({"format": 1, "program": "key"})",
        R"({"format": 1, "program": "key", "methods": ["panels"]})",
        R"({"format": 1, "program": "key", "methods": {"a": "faster", "b": 3, "c": null, "d": {}}})"}) {
    std::ofstream(path) << text;
    EXPECT_EQ(MethodTable::read(path, "key"), MethodTable()) << text;
  }
}

} // namespace
} // namespace ingot::test
