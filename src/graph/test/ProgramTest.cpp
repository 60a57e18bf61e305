// Programs become documents and programs again, and nothing is lost on the way.
#include "graph/Constants.h"
#include "graph/FromProgram.h"
#include "graph/Reader.h"
#include "graph/ToProgram.h"
#include "graph/Validate.h"
#include "graph/Writer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

using namespace ingot;
using namespace ingot::graph;

namespace {

std::vector<pt2::MemoryWeight> weightsOf(const pt2::Program &program) {
  std::vector<pt2::MemoryWeight> list;
  for (const auto *table : {&program.weights, &program.constants})
    for (const auto &[name, weight] : *table)
      list.push_back({name, table == &program.constants, weight.isParameter, weight.dtype, weight.sizes, weight.strides,
                      weight.storageOffset, weight.storage});
  return list;
}

pt2::Program fixture(const std::string &name) {
  Result<pt2::Program> program = pt2::readProgram(INGOT_PT2_TEST_DATA "/" + name + ".pt2");
  EXPECT_TRUE(program) << program.error().str();
  return *std::move(program);
}

const Node *findNode(const Body &body, const std::string &opType) {
  for (const Node &node : body.nodes)
    if (node.opType == opType)
      return &node;
  return nullptr;
}

/// The order of keys is not kept by reading.
nlohmann::json plain(const Document &document) { return nlohmann::json(toJson(document)); }

class RoundTrip : public testing::TestWithParam<const char *> {};

TEST_P(RoundTrip, KeepsEverything) {
  pt2::Program program = fixture(GetParam());
  Document document = documentOf(program);
  EXPECT_EQ(validate(document), std::vector<std::string>());
  Result<Document> read = readDocument(writeDocument(document));
  ASSERT_TRUE(read) << read.error().str();
  Result<pt2::Program> again = programOf(*read, weightsOf(program));
  ASSERT_TRUE(again) << again.error().str();
  EXPECT_EQ(plain(documentOf(*again)), plain(document));
  EXPECT_EQ(again->graph.nodes.size(), program.graph.nodes.size());
  EXPECT_EQ(again->weights.size(), program.weights.size());
  for (size_t i = 0; i < program.graph.nodes.size(); ++i) {
    EXPECT_EQ(again->graph.nodes[i].target, program.graph.nodes[i].target);
    EXPECT_EQ(again->graph.nodes[i].inputs.size(), program.graph.nodes[i].inputs.size());
  }
}

TEST_P(RoundTrip, DamageIsAnErrorAndNoCrash) {
  const nlohmann::json whole = plain(documentOf(fixture(GetParam())));
  const nlohmann::json junk = {
      nullptr, -1, "x", "", true, 1e300, uint64_t(-1), 1000, 3.5, "s0", {{"$graph", "x"}}, {{"$complex", {1}}}};
  std::mt19937 random(3);
  std::vector<nlohmann::json::json_pointer> places;
  const nlohmann::json flat = whole.flatten();
  for (const auto &[place, value] : flat.items())
    places.emplace_back(place);
  for (int i = 0; i < 150; ++i) {
    nlohmann::json damaged = whole;
    for (int changes = 0; changes < 2; ++changes) {
      nlohmann::json::json_pointer place = places[random() % places.size()];
      for (size_t up = random() % 3; up > 0 && !place.empty(); --up)
        place.pop_back();
      if (damaged.contains(place))
        damaged[place] = junk[random() % junk.size()];
    }
    Result<Document> document = readDocument(damaged.dump());
    if (!document)
      continue;
    std::vector<std::string> problems = validate(*document);
    Result<pt2::Program> program = programWithoutWeights(*document);
    EXPECT_TRUE(problems.empty() || !program);
    EXPECT_FALSE(writeDocument(*document).empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, RoundTrip,
                         testing::Values("cache", "cache_decomposed", "cond", "dynamic", "linear", "pytree",
                                         "shared_strided"));

TEST(FromProgram, BranchesBecomeSubGraphs) {
  Document document = documentOf(fixture("cond"));
  const Node *cond = findNode(document.graph, "cond");
  ASSERT_TRUE(cond && cond->args);
  EXPECT_EQ((*cond->args)[1].kind, "graph");
  const Body &branch = document.graph.subgraphs.at((*cond->args)[1].value.get<std::string>());
  EXPECT_FALSE(branch.nodes.empty());
}

TEST(FromProgram, TiedWeightsNameTheFirst) {
  pt2::Program program = fixture("linear");
  ASSERT_GE(program.weights.size(), 2u);
  Document told = documentOf(program, {{program.weights.begin()->first, "other"}});
  auto tied = [](const Document &document) {
    std::map<std::string, std::string> names;
    for (const Weight &weight : document.weights)
      if (!weight.sameAs.empty())
        names[weight.name] = weight.sameAs;
    return names;
  };
  std::map<std::string, std::string> expected = {{program.weights.begin()->first, "other"}};
  EXPECT_EQ(tied(told), expected);
  EXPECT_TRUE(tied(documentOf(program)).empty());
  // Both the same view of one storage.
  std::string first = program.signature.inputs[0].target, second = program.signature.inputs[1].target;
  program.weights[second] = program.weights[first];
  expected = {{second, first}};
  EXPECT_EQ(tied(documentOf(program)), expected);
}

TEST(FromProgram, SizesThatVaryAreReadable) {
  Document document = documentOf(fixture("dynamic"));
  ASSERT_FALSE(document.symbols.empty());
  EXPECT_TRUE(std::holds_alternative<std::string>(document.graph.inputs.front().shape.front()));
}

TEST(ToProgram, AllProblemsOfWeightsAreNamed) {
  pt2::Program program = fixture("linear");
  Document document = documentOf(program);
  std::vector<pt2::MemoryWeight> weights = weightsOf(program);
  ASSERT_GE(weights.size(), 2u);
  std::string wrong = weights[0].name, missing = weights[1].name;
  weights[0].sizes.insert(weights[0].sizes.begin(), 1);
  weights[0].strides.insert(weights[0].strides.begin(), 1);
  weights.erase(weights.begin() + 1);
  weights.push_back(weights[0]);
  weights.back().name = "unknown";
  Result<pt2::Program> made = programOf(document, weights);
  ASSERT_FALSE(made);
  std::string text = made.error().str();
  EXPECT_NE(text.find("weight '" + wrong + "' has the shape"), text.npos) << text;
  EXPECT_NE(text.find("weight '" + missing + "' is missing"), text.npos) << text;
  EXPECT_EQ(unknownWeights(document, {wrong, "unknown"}), std::vector<std::string>{"unknown"});
}

TEST(Constants, LargeOnesGoToAFileOfTheirOwn) {
  std::vector<float> numbers(2000);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>(i) / 3;
  pt2::Weight weight;
  weight.sizes = {1000, 2};
  weight.strides = {1, 1000}; // transposed
  weight.storage = std::as_bytes(std::span(numbers));
  Document document;
  addConstant(document, "table", weight);
  ASSERT_EQ(document.sideConstants.size(), 1u);
  std::string folder = testing::TempDir() + "graph_constants";
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(writeDocumentFile(document, folder + "/g.json"));
  Result<Document> read = readDocumentFile(folder + "/g.json");
  ASSERT_TRUE(read) << read.error().str();
  ASSERT_EQ(read->constants.size(), 1u);
  Result<ConstantValue> value = constantValue(*read, read->constants[0].second);
  ASSERT_TRUE(value) << value.error().str();
  EXPECT_EQ(value->shape, weight.sizes);
  const float *data = reinterpret_cast<const float *>(value->data.data());
  EXPECT_EQ(data[1], numbers[1000]);
  EXPECT_EQ(data[2], numbers[1]);
}

TEST(Constants, FilesElsewhereAreRefused) {
  Document document;
  for (const char *file : {"../secrets.safetensors", "/etc/passwd", "", ".."}) {
    Json entry = {{"dtype", "float32"}, {"shape", {1}}, {"file", file}, {"key", "x"}};
    EXPECT_FALSE(constantValue(document, entry)) << file;
  }
}

} // namespace
