#include "base/Json.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace ingot;
using nlohmann::json;

namespace {

json parsed(std::string_view text) {
  Result<json> document = parseJson(text);
  EXPECT_TRUE(document) << document.error().str();
  return document ? *document : json();
}

TEST(Json, ReportsSyntaxErrorsWithoutThrowing) {
  for (std::string_view text : {"", "{", "[1,]", "{\"a\" 1}", "\"\\ud800\"", "\"\xff\"", "nul", "1 2"}) {
    Result<json> document = parseJson(text);
    ASSERT_FALSE(document) << text;
    EXPECT_EQ(document.error().kind, ErrorKind::Corrupt);
  }
}

TEST(Json, LimitsDepth) {
  std::string deep = std::string(512, '[') + std::string(512, ']');
  EXPECT_TRUE(parseJson(deep));
  EXPECT_FALSE(parseJson("[" + deep + "]"));
  // Brackets inside strings do not count, escaped quotes do not end one.
  EXPECT_TRUE(parseJson("[\"\\\"" + std::string(1000, '[') + "\"]"));
  EXPECT_FALSE(parseJson(std::string(1000000, '[')));
}

TEST(Json, NamesThePathOfAMismatch) {
  json document = parsed(R"({"graph": {"nodes": [{}, {"inputs": [1, "x"]}], "a b": 1}})");
  JsonRef root(document);
  JsonRef nodes = *root.member("graph")->member("nodes");
  Result<std::vector<JsonRef>> items = nodes.list([](JsonRef item) { return Result<JsonRef>(item); });
  ASSERT_TRUE(items);
  Result<std::vector<int64_t>> inputs = (*items)[1].member("inputs")->list([](JsonRef item) { return item.integer(); });
  ASSERT_FALSE(inputs);
  EXPECT_EQ(inputs.error().message, "graph.nodes[1].inputs[1] should be an integer but is string");
  EXPECT_EQ((*items)[0].member("inputs").error().message, "graph.nodes[0] lacks the member 'inputs'");
  EXPECT_EQ(root.member("graph")->member("a b")->path(), "graph[\"a b\"]");
}

TEST(Json, ReadsPythonNumbers) {
  json document = parsed(R"([9223372036854775807, 18446744073709551615, 36893488147419103232,
                             -36893488147419103232, "Infinity", "-Infinity", "NaN", 3, "x", 1.5])");
  auto items = *JsonRef(document).list([](JsonRef item) { return Result<JsonRef>(item); });
  EXPECT_EQ(*items[0].integer(), INT64_MAX);
  EXPECT_FALSE(items[1].integer());
  EXPECT_EQ(items[1].integer().error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(items[1].largeUnsigned(), UINT64_MAX);
  EXPECT_EQ(items[2].integer().error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(*items[2].clampedInteger(), INT64_MAX);
  EXPECT_EQ(*items[3].clampedInteger(), INT64_MIN);
  EXPECT_EQ(*items[4].number(), INFINITY);
  EXPECT_EQ(*items[5].number(), -INFINITY);
  EXPECT_TRUE(std::isnan(*items[6].number()));
  EXPECT_EQ(*items[7].number(), 3.0);
  EXPECT_FALSE(items[8].number());
  EXPECT_EQ(items[9].integer().error().kind, ErrorKind::Corrupt);
}

TEST(Json, TellsMissingFromPresentMembers) {
  json document = parsed(R"({"a": null, "b": 1})");
  JsonRef root(document);
  EXPECT_FALSE(root.optionalMember("a")->has_value());
  EXPECT_FALSE(root.optionalMember("c")->has_value());
  EXPECT_TRUE(root.optionalMember("b")->has_value());
  EXPECT_FALSE(root.onlyMember());
  EXPECT_FALSE(root.member("b")->member("x"));
}

} // namespace
