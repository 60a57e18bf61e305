#include "pt2/SourceLocation.h"

#include "pt2/test/Fixtures.h"

using namespace ingot;
using namespace ingot::pt2;
using namespace ingot::pt2::test;

namespace {

NodeMetadata metadataOf(std::string stackTrace, std::string moduleStack = "") {
  NodeMetadata metadata;
  metadata.stackTrace = std::move(stackTrace);
  metadata.moduleStack = std::move(moduleStack);
  return metadata;
}

constexpr const char *trace = R"(File "/models/model.py", line 11, in forward
    return self.m(x)
  File "/v/lib/python3.11/site-packages/transformers/bert.py", line 459, in forward
    outputs = self.model(
              ^^^^^^^^^^^
  File "/v/lib/python3.11/site-packages/torch/nn/modules/sparse.py", line 189, in forward
    return F.embedding()";

TEST(SourceLocation, PrefersTheUsersFile) {
  SourceLocation location = locate(metadataOf(trace));
  ASSERT_TRUE(location.frame);
  EXPECT_EQ(location.frame->str(), "/models/model.py:11");
  EXPECT_EQ(location.frame->function, "forward");
  EXPECT_EQ(location.frame->code, "return self.m(x)");
  ASSERT_TRUE(location.libraryFrame);
  EXPECT_EQ(location.libraryFrame->line, 459);
  EXPECT_EQ(location.libraryFrame->code, "outputs = self.model(");
}

TEST(SourceLocation, FallsBackToTheInnermostFrame) {
  std::string text = trace;
  SourceLocation location = locate(metadataOf(text.substr(text.find("  File"))));
  ASSERT_TRUE(location.frame);
  EXPECT_EQ(location.frame->line, 189);
  EXPECT_FALSE(locate(metadataOf("")).frame);
  EXPECT_FALSE(locate(metadataOf("no trace\nat all")).frame);
}

TEST(SourceLocation, FindsTheModule) {
  SourceLocation location =
      locate(metadataOf("", "L__self__,,__main__.Net;L__self__a,enc.layer.0@1,torch.nn.Linear[int, (a;b)]"));
  EXPECT_EQ(location.modulePath, "enc.layer.0");
  EXPECT_EQ(location.moduleType, "torch.nn.Linear[int, (a;b)]");
  EXPECT_EQ(location.str(), "enc.layer.0");
  EXPECT_EQ(locate(metadataOf("", "x,L['self'].fc,T")).modulePath, "fc");
  EXPECT_EQ(locate(metadataOf("", ";;,,,")).modulePath, "");
}

TEST(SourceLocation, ReadsRealMetadata) {
  Program program = readFixture("linear");
  SourceLocation location = locate(program.graph.nodes[0].metadata);
  ASSERT_TRUE(location.frame);
  EXPECT_EQ(location.frame->file, "make_fixtures.py");
  EXPECT_EQ(location.frame->code, "return torch.relu(self.fc(x))");
  EXPECT_EQ(location.modulePath, "fc");
}

TEST(SourceLocation, TorchsOwnNodesHaveNoModule) {
  const char *hook = "_empty_nn_module_stack_from_metadata_hook";
  NodeMetadata metadata;
  metadata.moduleStack = std::string(hook) + "," + hook + "," + hook;
  EXPECT_EQ(locate(metadata).modulePath, "");
  EXPECT_EQ(locate(metadata).moduleType, "");
}

} // namespace
