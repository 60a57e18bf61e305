// The program's JSON: every argument kind, signatures, sub-graphs, symbolic values, bad graphs.
#include "pt2/ProgramReader.h"
#include "pt2/test/Fixtures.h"

#include <gmock/gmock.h>

#include <cmath>

using namespace ingot;
using namespace ingot::pt2;
using namespace ingot::pt2::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

Result<Argument> argumentOf(std::string_view text) {
  Result<nlohmann::json> document = parseJson(text);
  EXPECT_TRUE(document) << text;
  return readArgument(JsonRef(*document), {});
}

Argument goodArgument(std::string_view text) {
  Result<Argument> argument = argumentOf(text);
  EXPECT_TRUE(argument) << argument.error().str();
  return argument ? *argument : Argument();
}

const Node *findNode(const Graph &graph, std::string_view target) {
  for (const Node &node : graph.nodes)
    if (node.target == target)
      return &node;
  return nullptr;
}

TEST(Program, ReadsLiteralArguments) {
  EXPECT_TRUE(goodArgument(R"({"as_none": true})").isNone());
  EXPECT_EQ(goodArgument(R"({"as_int": -3})").asInt(), -3);
  EXPECT_EQ(goodArgument(R"({"as_int": 18446744073709551615})").asUInt64(), UINT64_MAX);
  EXPECT_THAT(goodArgument(R"({"as_ints": [1, 2]})").asInts(), ElementsAre(1, 2));
  EXPECT_EQ(goodArgument(R"({"as_int_lists": [[1], []]})").asIntLists().size(), 2u);
  EXPECT_EQ(goodArgument(R"({"as_float": 2})").asFloat(), 2.0);
  EXPECT_EQ(goodArgument(R"({"as_float": "-Infinity"})").asFloat(), -INFINITY);
  EXPECT_THAT(goodArgument(R"({"as_floats": [1.5, "Infinity"]})").asFloats(), ElementsAre(1.5, INFINITY));
  EXPECT_EQ(goodArgument(R"({"as_float_lists": [[1.5]]})").asFloatLists()[0][0], 1.5);
  EXPECT_TRUE(goodArgument(R"({"as_bool": true})").asBool());
  EXPECT_THAT(goodArgument(R"({"as_bools": [true, false]})").asBools(), ElementsAre(true, false));
  EXPECT_EQ(goodArgument(R"({"as_string": "x"})").asString(), "x");
  EXPECT_THAT(goodArgument(R"({"as_strings": ["x"]})").asStrings(), ElementsAre("x"));
  EXPECT_EQ(goodArgument(R"({"as_complex": {"real": 1, "imag": 2}})").asComplex().imag(), 2.0);
  EXPECT_EQ(goodArgument(R"({"as_scalar_type": 13})").asScalarType(), DType::BFloat16);
  EXPECT_EQ(goodArgument(R"({"as_memory_format": 2})").asMemoryFormat(), MemoryFormat::ChannelsLast);
  EXPECT_EQ(goodArgument(R"({"as_layout": 7})").asLayout(), Layout::Strided);
  EXPECT_EQ(goodArgument(R"({"as_device": {"type": "cuda", "index": 1}})").asDevice().index, 1);
  EXPECT_EQ(goodArgument(R"({"as_operator": "aten.add"})").asOperator(), "aten.add");
}

TEST(Program, ReadsReferences) {
  EXPECT_EQ(goodArgument(R"({"as_tensor": {"name": "x"}})").asTensor(), "x");
  EXPECT_THAT(goodArgument(R"({"as_tensors": [{"name": "x"}]})").asTensors(), ElementsAre("x"));
  EXPECT_EQ(goodArgument(R"({"as_optional_tensor": {"as_tensor": {"name": "x"}}})").asOptionalTensor(), "x");
  Argument optionals = goodArgument(R"({"as_optional_tensors": [{"as_none": true}, {"as_tensor": {"name": "x"}}]})");
  EXPECT_THAT(optionals.asOptionalTensors(), ElementsAre(std::nullopt, "x"));
  EXPECT_EQ(goodArgument(R"({"as_nested_tensors": [[{"name": "x"}]]})").asNestedTensors()[0][0], "x");
  EXPECT_EQ(goodArgument(R"({"as_sym_int": {"as_name": "n"}})").asSymInt().name(), "n");
  Argument sizes = goodArgument(R"({"as_sym_ints": [{"as_int": -1}, {"as_name": "n"}]})");
  EXPECT_EQ(sizes.asSymInts()[0].literal(), -1);
  EXPECT_EQ(goodArgument(R"({"as_sym_float": {"as_float": 1}})").asSymFloat().literal(), 1.0);
  EXPECT_EQ(goodArgument(R"({"as_sym_bools": [{"as_bool": true}]})").asSymBools().size(), 1u);
  Argument dict = goodArgument(R"({"as_string_to_argument": {"k": {"as_tensor": {"name": "x"}}}})");
  std::vector<std::string> names;
  for (const Argument &argument : {optionals, sizes, dict})
    forEachValueName(argument, [&](const std::string &name) { names.push_back(name); });
  EXPECT_THAT(names, ElementsAre("x", "n", "x"));
}

TEST(Program, SeparatesUnknownFromCorruptArguments) {
  EXPECT_EQ(argumentOf(R"({"as_future": 1})").error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(argumentOf(R"({"as_scalar_type": 99})").error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(argumentOf(R"({"as_layout": 9})").error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(argumentOf(R"({"as_int": 36893488147419103232})").error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(argumentOf(R"({"as_int": "x"})").error().kind, ErrorKind::Corrupt);
  EXPECT_EQ(argumentOf(R"({"as_int": 1, "as_bool": true})").error().kind, ErrorKind::Corrupt);
  EXPECT_EQ(argumentOf(R"({})").error().kind, ErrorKind::Corrupt);
  EXPECT_EQ(argumentOf(R"x({"as_int (unsigned)": 1})x").error().kind, ErrorKind::Unsupported);
}

TEST(Program, ReadsNodesAndMetadata) {
  Program program = readFixture("linear");
  ASSERT_EQ(program.graph.nodes.size(), 2u);
  const Node &linear = program.graph.nodes[0];
  EXPECT_EQ(linear.target, "torch.ops.aten.linear.default");
  ASSERT_TRUE(linear.findInput("weight"));
  EXPECT_EQ(linear.findInput("weight")->asTensor(), "p_fc_weight");
  EXPECT_FALSE(linear.findInput("nothing"));
  EXPECT_EQ(linear.inputs[0].passedAs, PassedAs::Positional);
  EXPECT_THAT(linear.metadata.moduleStack, HasSubstr("fc"));
  EXPECT_THAT(linear.metadata.stackTrace, HasSubstr("make_fixtures.py"));
  const TensorMeta *meta = program.graph.findTensor(linear.outputs[0].asTensor());
  ASSERT_TRUE(meta);
  EXPECT_EQ(meta->dtype, DType::Float32);
  EXPECT_EQ(meta->sizes[1].concrete(), 3);
  EXPECT_EQ(meta->device.type, "cpu");
  EXPECT_EQ(readFixture("linear", {.keepMetadata = false}).graph.nodes[0].metadata.stackTrace, "");
}

TEST(Program, ReadsDynamicShapes) {
  Program program = readFixture("dynamic");
  const TensorMeta *x = program.graph.findTensor("x");
  ASSERT_TRUE(x);
  ASSERT_FALSE(x->sizes[0].isConcrete());
  EXPECT_THAT(x->sizes[0].expr().text, HasSubstr("Symbol('s"));
  EXPECT_EQ(std::get<int64_t>(x->sizes[0].expr().hint), 6);
  bool hasRange = false;
  for (const auto &[symbol, range] : program.rangeConstraints)
    hasRange |= range.min == 3 && range.max == 64;
  EXPECT_TRUE(hasRange);
  EXPECT_FALSE(program.guards.empty());
  EXPECT_FALSE(program.graph.symIntValues.empty());
  const Node *full = findNode(program.graph, "torch.ops.aten.full.default");
  ASSERT_TRUE(full);
  EXPECT_EQ(full->findInput("fill_value")->asFloat(), INFINITY);
  EXPECT_TRUE(full->findInput("size")->is(ArgumentKind::SymInts));
}

TEST(Program, ReadsSubGraphs) {
  Program program = readFixture("cond");
  const Node *cond = findNode(program.graph, "torch.ops.higher_order.cond");
  ASSERT_TRUE(cond);
  ASSERT_EQ(cond->inputs.size(), 4u);
  const SubGraph &body = cond->inputs[1].value.asGraph();
  EXPECT_EQ(body.name, "true_graph_0");
  EXPECT_EQ(body.graph->inputs.size(), 2u);
  EXPECT_TRUE(findNode(*body.graph, "torch.ops.aten.add.Tensor"));
  EXPECT_EQ(cond->hopReturnsSingleTensor, false);
  EXPECT_EQ(cond->outputs.size(), 2u);
}

TEST(Program, ReadsMutations) {
  Program inPlace = readFixture("cache"), functional = readFixture("cache_decomposed");
  EXPECT_EQ(inPlace.dialect, Dialect::Training);
  EXPECT_EQ(functional.dialect, Dialect::Aten);
  auto mutations = [](const Program &program) {
    std::vector<std::string> targets;
    for (const OutputSpec &output : program.signature.outputs)
      if (output.kind == OutputKind::BufferMutation)
        targets.push_back(output.target);
    return targets;
  };
  EXPECT_TRUE(mutations(inPlace).empty());
  EXPECT_THAT(mutations(functional), ElementsAre("k", "v"));
  for (const InputSpec &input : functional.signature.inputs)
    if (input.kind == InputKind::Buffer)
      EXPECT_EQ(input.persistent, input.target == "k");
  EXPECT_EQ(functional.constants.count("v"), 1u);
}

TEST(Program, ReadsConstantInputs) {
  Program program = readFixture("pytree");
  std::vector<Argument> literals;
  for (const InputSpec &input : program.signature.inputs)
    if (input.kind == InputKind::ConstantInput)
      literals.push_back(input.value);
  ASSERT_EQ(literals.size(), 2u);
  EXPECT_EQ(literals[0].asInt(), 2);
  EXPECT_EQ(literals[1].asFloat(), 2.5);
}

// Bad graphs, made from a good one.
nlohmann::json goodGraph() {
  return nlohmann::json::parse(R"({
    "inputs": [{"as_sym_int": {"as_name": "a"}}], "outputs": [{"as_sym_int": {"as_name": "b"}}],
    "nodes": [{"target": "_operator.neg", "metadata": {},
               "inputs": [{"name": "a", "arg": {"as_sym_int": {"as_name": "a"}}, "kind": 1}],
               "outputs": [{"as_sym_int": {"as_name": "b"}}]}],
    "sym_int_values": {"a": {"as_int": 1}, "b": {"as_int": -1}}})");
}

std::string checkJson(const nlohmann::json &document) {
  Result<Graph> graph = readGraph(JsonRef(document), {});
  if (!graph)
    return graph.error().message;
  Status status = checkGraph(*graph);
  return status ? "" : status.error().str();
}

TEST(Program, ChecksGraphs) {
  EXPECT_EQ(checkJson(goodGraph()), "");
  nlohmann::json graph = goodGraph();
  graph["nodes"][0]["inputs"][0]["arg"]["as_sym_int"]["as_name"] = "b";
  EXPECT_THAT(checkJson(graph), HasSubstr("before it is defined"));
  graph = goodGraph();
  graph["nodes"].push_back(graph["nodes"][0]);
  EXPECT_THAT(checkJson(graph), HasSubstr("defined twice"));
  graph = goodGraph();
  graph["sym_int_values"].erase("b");
  EXPECT_THAT(checkJson(graph), HasSubstr("no metadata"));
  graph = goodGraph();
  nlohmann::json body = goodGraph();
  body["outputs"][0]["as_sym_int"]["as_name"] = "outer";
  graph["nodes"][0]["inputs"].push_back({{"name", ""}, {"arg", {{"as_graph", {{"name", "body"}, {"graph", body}}}}}});
  EXPECT_THAT(checkJson(graph), HasSubstr("in body 'body'"));
}

TEST(Program, RefusesOtherSchemaVersions) {
  Result<Program> program = readProgramFromMemory(R"({"schema_version": {"major": 9, "minor": 0}})", {});
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().kind, ErrorKind::Unsupported);
  EXPECT_FALSE(readProgramFromMemory("[]", {}));
  EXPECT_FALSE(readProgramFromMemory("", {}));
}

} // namespace
