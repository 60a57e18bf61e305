#include "import/Import.h"

#include "dialect/Conventions.h"
#include "dialect/Dialect.h"
#include "dialect/Ops.h"
#include "import/Location.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mlir;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace ingot {
namespace {

class ImportTest : public testing::Test {
protected:
  ImportTest() { context.loadDialect<IngotDialect, func::FuncDialect, arith::ArithDialect>(); }

  pt2::Program read(const std::string &name) {
    Result<pt2::Program> program = pt2::readProgram(INGOT_PT2_TEST_DATA "/" + name + ".pt2");
    if (!program) {
      ADD_FAILURE() << program.error().str();
      return {};
    }
    return *std::move(program);
  }

  /// The printed module, or the error.
  std::string import(const pt2::Program &program) {
    module = ModuleOp::create(UnknownLoc::get(&context));
    WeightTable weights;
    if (Status imported = importProgram(program, *module, weights); !imported)
      return "error: " + imported.error().str();
    std::string text;
    llvm::raw_string_ostream(text) << **&module;
    return text;
  }

  std::string import(const std::string &name) { return import(read(name)); }

  /// The sizes of the first argument of an imported program.
  ArrayAttr dimsOfFirst(const pt2::Program &program) {
    import(program);
    auto func = *module->getOps<func::FuncOp>().begin();
    return func.getArgAttrOfType<ArrayAttr>(0, attr::kDims);
  }

  AtenOp find(StringRef target) {
    AtenOp found;
    module->walk([&](AtenOp op) {
      if (op.getTarget() == target)
        found = op;
    });
    return found;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
};

TEST_F(ImportTest, nodesBecomeCarriers) {
  EXPECT_THAT(import("linear"),
              AllOf(HasSubstr("ingot.weight \"fc.weight\" : tensor<3x4xf32>"),
                    HasSubstr("\"aten::linear\"(%arg0, %0, %1) {args = {bias = #ingot.value<2>, input = "
                              "#ingot.value<0>, weight = #ingot.value<1>}}"),
                    HasSubstr("ingot.aten \"aten::relu\""), HasSubstr("ingot.name = \"x\"")));
}

TEST_F(ImportTest, locationsTellNodeLineAndModule) {
  import("linear");
  SourceInfo source = sourceInfo(find("aten::linear").getLoc());
  EXPECT_EQ(source.node, "linear");
  EXPECT_EQ(source.file, "make_fixtures.py");
  EXPECT_GT(source.line, 0);
  EXPECT_EQ(source.modulePath, "fc");
}

TEST_F(ImportTest, fusedLocationsNameEveryNode) {
  Location a = makeLocation(&context, {"a", "m.py", 3, "x.y"});
  Location b = makeLocation(&context, {"b", "", 0, ""});
  SourceInfo source = sourceInfo(FusedLoc::get(&context, {a, b}));
  EXPECT_EQ(source.node, "a, b");
  EXPECT_EQ(source.str(), "node 'a, b' (m.py:3, in x.y)");
  EXPECT_EQ(sourceInfo(UnknownLoc::get(&context)).str(), "");
}

TEST_F(ImportTest, unknownSizesKeepTheirNames) {
  std::string text = import("dynamic");
  EXPECT_THAT(text, AllOf(HasSubstr("%arg0: tensor<?x?xf32>"), HasSubstr("ingot.symbols = {"),
                          HasSubstr("shape = [-1, 2, #ingot.value<1>]"), HasSubstr("\"_operator::floordiv\"")));
  auto func = *module->getOps<func::FuncOp>().begin();
  auto dims = func.getArgAttrOfType<ArrayAttr>(0, attr::kDims);
  ASSERT_EQ(dims.size(), 2u);
  EXPECT_THAT(cast<StringAttr>(dims[1]).str(), testing::StartsWith("2*s"));
  EXPECT_TRUE(func.getResultTypes().back().isInteger(64));
}

TEST_F(ImportTest, equationsOfSizesHaveRanges) {
  pt2::Program program = read("dynamic");
  std::string input = program.signature.inputs.back().value.asTensor();
  std::string size = "L['" + input + "'].size()[0]";
  program.guards = {"(1 + " + size + ") // 2 == 2",     size + " == " + size,   size + " != 1", "2 <= " + size,
                    "L['nobody'].size()[0] == 2",       "f(" + size + ") == 2", "L['",          size + " < 9",
                    "math.trunc(0.5*" + size + ") == 3"};
  std::string symbol = cast<StringAttr>(dimsOfFirst(program)[0]).str();
  auto func = *module->getOps<func::FuncOp>().begin();
  auto symbols = func->getAttrOfType<DictionaryAttr>(attr::kSymbols);
  EXPECT_TRUE(symbols.contains("(1 + (" + symbol + ")) // 2"));
  EXPECT_TRUE(symbols.contains("(" + symbol + ") - ((" + symbol + "))"));
  EXPECT_TRUE(symbols.contains("(" + symbol + ") < 9"));
  EXPECT_TRUE(symbols.contains("math.trunc(0.5*(" + symbol + ")) == 3"));
  EXPECT_EQ(symbols.size(), program.rangeConstraints.size() + 4);
}

TEST_F(ImportTest, rangesOfSizesAreNotEmpty) {
  pt2::Program program = read("dynamic");
  program.rangeConstraints["s99"] = {5, 4};
  EXPECT_THAT(import(program), HasSubstr("error: the size 's99' has no valid range"));
  program = read("dynamic");
  program.rangeConstraints[""] = {};
  EXPECT_THAT(import(program), HasSubstr("error: the size '' has no valid range"));
}

TEST_F(ImportTest, subGraphsBecomeRegions) {
  EXPECT_THAT(import("cond"), HasSubstr("arg1 = #ingot.region<0>, arg2 = #ingot.region<1>, arg3 = ["));
  AtenOp cond = find("higher_order::cond");
  ASSERT_EQ(cond.getGraphs().size(), 2u);
  EXPECT_EQ(cond.getGraphs().front().getNumArguments(), 2u);
}

TEST_F(ImportTest, literalsStandInTheFlatCall) {
  EXPECT_THAT(import("pytree"),
              AllOf(HasSubstr("[\"table_scale\", \"2\"], 6, 7, [\"factor\", \"2.5\"]]"), HasSubstr("\"null\"]")));
}

TEST_F(ImportTest, tiedWeightsShareAKey) {
  EXPECT_THAT(import("shared_strided"),
              AllOf(HasSubstr("ingot.weight \"w1\""), HasSubstr("ingot.weight \"w2\""),
                    HasSubstr("ingot.weight \"hidden\" : tensor<2xf32>"), Not(HasSubstr("ingot.weight \"tied\""))));
}

TEST_F(ImportTest, inPlaceNodesStayAsTheyAre) {
  EXPECT_THAT(import("cache"), AllOf(HasSubstr("\"aten::index_copy_\""), Not(HasSubstr("ingot.state"))));
}

TEST_F(ImportTest, mutatedBuffersAreStates) {
  EXPECT_THAT(import("cache_decomposed"),
              AllOf(HasSubstr("ingot.initial = \"k\", ingot.name = \"k\", ingot.state = \"k\""),
                    HasSubstr("tensor<1x2x4xf32> {ingot.state = \"v\"}"), Not(HasSubstr("ingot.weight \"k\""))));
}

TEST_F(ImportTest, defaultsAreFilledIn) {
  pt2::Program program = read("linear");
  program.graph.nodes.back().target = "torch.ops.aten.gelu.default";
  EXPECT_THAT(import(program), HasSubstr("\"aten::gelu\"(%2) {args = {approximate = \"none\", self ="));
}

TEST_F(ImportTest, unknownOperatorsAreKept) {
  pt2::Program program = read("linear");
  program.graph.nodes.back().target = "torch.ops.mine.twist.fast";
  program.graph.nodes.back().inputs.push_back({"angle", pt2::Argument::makeComplex({0.5, -1})});
  EXPECT_THAT(import(program),
              HasSubstr("\"mine::twist.fast\"(%2) {args = {angle = #ingot.tagged<\"complex\", \"0.5,-1\">, self ="));
}

TEST_F(ImportTest, noneOutputsKeepTheirPlace) {
  pt2::Program program = read("linear");
  pt2::Node &node = program.graph.nodes.back();
  node.target = "torch.ops.mine.pair.default";
  node.outputs.insert(node.outputs.begin(), pt2::Argument::makeNone());
  EXPECT_THAT(import(program), HasSubstr("ingot.returns = [unit, 0]"));
}

TEST_F(ImportTest, errorsNameNodeAndLine) {
  pt2::Program program = read("linear");
  program.graph.nodes.back().inputs.front().value = pt2::Argument::makeTensor("gone");
  EXPECT_THAT(import(program), AllOf(HasSubstr("error: value 'gone' is used before it is defined"),
                                     HasSubstr("node 'relu' (make_fixtures.py:"), HasSubstr("aten.relu")));
}

TEST_F(ImportTest, missingArgumentsAreErrors) {
  pt2::Program program = read("linear");
  program.graph.nodes.back().inputs.clear();
  EXPECT_THAT(import(program), HasSubstr("error: argument 'self' is missing"));
}

TEST_F(ImportTest, missingWeightsAreErrors) {
  pt2::Program program = read("linear");
  program.weights.erase("fc.weight");
  EXPECT_THAT(import(program), HasSubstr("error: the file has no data for 'fc.weight'"));
}

TEST_F(ImportTest, valuesAreDefinedOnce) {
  pt2::Program program = read("linear");
  program.graph.nodes.push_back(program.graph.nodes.back());
  EXPECT_THAT(import(program), HasSubstr("error: value 'relu' is defined twice"));
}

TEST_F(ImportTest, outputsMustExist) {
  pt2::Program program = read("linear");
  program.graph.nodes.pop_back();
  EXPECT_THAT(import(program), HasSubstr("error: value 'relu' does not exist"));
}

} // namespace
} // namespace ingot
