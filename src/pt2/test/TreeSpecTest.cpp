#include "pt2/ProgramReader.h"
#include "pt2/test/Fixtures.h"

using namespace ingot;
using namespace ingot::pt2;
using namespace ingot::pt2::test;

namespace {

TEST(TreeSpec, ReadsNestedContainers) {
  Program program = readFixture("pytree");
  const ModuleCallSignature &root = program.rootSignature();
  EXPECT_EQ(root.inSpec.kind, TreeKind::Tuple);
  ASSERT_EQ(root.inSpec.children.size(), 2u);
  const TreeSpec &args = root.inSpec.children[0], &kwargs = root.inSpec.children[1];
  EXPECT_EQ(args.children.size(), 4u);
  EXPECT_EQ(args.children[1].kind, TreeKind::List);
  EXPECT_EQ(args.children[1].children[1].kind, TreeKind::Tuple);
  ASSERT_EQ(kwargs.keys.size(), 3u);
  EXPECT_EQ(kwargs.keys[1], TreeKey("point"));
  const TreeSpec &point = kwargs.children[1];
  EXPECT_EQ(point.kind, TreeKind::NamedTuple);
  EXPECT_EQ(point.keys[1], TreeKey("b"));
  EXPECT_EQ(root.outSpec.kind, TreeKind::Dict);
  EXPECT_EQ(root.outSpec.keys[2], TreeKey(int64_t(3)));
  EXPECT_EQ(root.inSpec.leafCount(), 10u);
  EXPECT_FALSE(root.inSpecText.empty());
}

Result<TreeSpec> read(std::string_view text) { return readTreeSpec(text, {}); }

TEST(TreeSpec, KeepsWhatItDoesNotKnowCountable) {
  Result<TreeSpec> other = read(R"([1, {"type": "lib.Cache", "context": "[[1], []]", "children_spec":
      [{"type": null, "context": null, "children_spec": []}]}])");
  ASSERT_TRUE(other) << other.error().str();
  EXPECT_EQ(other->kind, TreeKind::Other);
  EXPECT_EQ(other->context, "[[1], []]");
  EXPECT_EQ(other->leafCount(), 1u);
  Result<TreeSpec> keyed = read(R"([1, {"type": "builtins.dict",
      "context": "[{\"__enum__\": true, \"fqn\": \"m:E\", \"name\": \"X\"}]", "children_spec":
      [{"type": null, "context": null, "children_spec": []}]}])");
  ASSERT_TRUE(keyed) << keyed.error().str();
  EXPECT_EQ(keyed->kind, TreeKind::Other);
}

TEST(TreeSpec, ReadsDefaultDictionaries) {
  Result<TreeSpec> spec = read(R"([1, {"type": "collections.defaultdict", "context":
      {"default_factory_module": "builtins", "default_factory_name": "list", "dict_context": ["k"]},
      "children_spec": [{"type": null, "context": null, "children_spec": []}]}])");
  ASSERT_TRUE(spec) << spec.error().str();
  EXPECT_EQ(spec->kind, TreeKind::DefaultDict);
  EXPECT_EQ(spec->keys[0], TreeKey("k"));
}

TEST(TreeSpec, RefusesNonsense) {
  EXPECT_FALSE(read(""));
  EXPECT_FALSE(read("[]"));
  EXPECT_EQ(read(R"([2, {"type": null}])").error().kind, ErrorKind::Unsupported);
  EXPECT_FALSE(read(R"([1, 5])"));
  EXPECT_FALSE(read(R"([1, {"type": "builtins.dict", "context": "[\"a\"]", "children_spec": []}])"));
  std::string deep = "[1, ";
  for (int i = 0; i < 2000; ++i)
    deep += R"({"type": "builtins.list", "context": "null", "children_spec": [)";
  EXPECT_FALSE(read(deep));
}

} // namespace
