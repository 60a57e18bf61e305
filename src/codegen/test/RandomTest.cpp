// Random programs, clustered, compiled and run, against the same programs op by op in double precision.
#include "codegen/test/KernelFixture.h"
#include "passes/fuse/Passes.h"

#include <cmath>
#include <map>
#include <random>
#include <set>

#include <mlir/Pass/PassManager.h>

namespace ingot::codegen {
namespace {

constexpr int64_t kRows = 5, kColumns = 37;

/// A value of shape 5x37, 5x1 or 37, with the strides at which a loop over 5x37 finds its elements.
struct Array {
  std::vector<float> data;
  int64_t outer, inner;

  explicit Array(mlir::Type type) {
    auto tensor = mlir::cast<mlir::RankedTensorType>(type);
    bool isRow = tensor.getRank() == 2 && tensor.getDimSize(1) == 1;
    bool isColumn = tensor.getRank() == 1;
    data.resize(tensor.getNumElements());
    outer = isColumn ? 0 : isRow ? 1 : kColumns;
    inner = isRow ? 0 : 1;
  }
  float at(int64_t i, int64_t j) const { return data[i * outer + j * inner]; }
};

using Arrays = std::map<void *, Array>;

class ProgramWriter {
public:
  explicit ProgramWriter(unsigned seed) : engine(seed) {}

  std::string write(int ops) {
    values = {"%x", "%y"};
    text = "func.func @f(%x: tensor<5x37xf32>, %y: tensor<5x37xf32>, %c: tensor<37xf32>) -> (tensor<5x37xf32>, "
           "tensor<5x37xf32>) {\n  %half = ingot.constant dense<0.05> : tensor<f32>\n";
    for (int i = 0; i < ops; ++i)
      writeOp("%" + std::to_string(i));
    return text + "  return " + values.back() + ", " + pick() + " : " + kFull + ", " + kFull + "\n}\n";
  }

private:
  static constexpr const char *kFull = "tensor<5x37xf32>";
  unsigned below(unsigned limit) { return static_cast<unsigned>(engine() % limit); }
  std::string pick() { return values[values.size() - 1 - below(std::min<unsigned>(values.size(), 6))]; }

  void writeOp(const std::string &name) {
    const char *binary[] = {"add", "sub", "mul", "maximum"};
    const char *unary[] = {"tanh", "sigmoid", "relu", "gelu"};
    std::string full = kFull;
    unsigned choice = below(10);
    if (choice < 3) {
      text += "  " + name + " = ingot." + binary[below(4)] + " " + pick() + ", " + pick() + " : (" + full + ", " +
              full + ") -> " + full + "\n";
    } else if (choice < 6) {
      text += "  " + name + " = ingot." + unary[below(4)] + " " + pick() + " : (" + full + ") -> " + full + "\n";
    } else if (choice < 7) {
      text += "  " + name + " = ingot.add " + pick() + ", %c : (" + full + ", tensor<37xf32>) -> " + full + "\n";
    } else if (choice < 8) { // an op that clusters cannot hold, so that paths leave them and come back
      text += "  " + name + " = ingot.flip " + pick() + " {dims = array<i64: 0>} : (" + full + ") -> " + full + "\n";
    } else {
      writeReduction(name);
    }
    values.push_back(name);
  }

  void writeReduction(const std::string &name) {
    std::string full = kFull, row = "tensor<5x1xf32>", n = name.substr(1), kind = std::to_string(2 * below(2));
    text += "  %r" + n + " = ingot.reduce " + pick() + " {kind = " + kind + " : i32, dims = array<i64: 1>} : (" + full +
            ") -> " + row + "\n";
    text += "  %s" + n + " = ingot.mul %r" + n + ", %half : (" + row + ", tensor<f32>) -> " + row + "\n";
    text += "  %t" + n + " = ingot.tanh %s" + n + " : (" + row + ") -> " + row + "\n";
    text += "  " + name + " = ingot.sub " + pick() + ", %t" + n + " : (" + full + ", " + row + ") -> " + full + "\n";
  }

  std::mt19937 engine;
  std::string text;
  std::vector<std::string> values;
};

double scalarResult(llvm::StringRef op, double a, double b) {
  if (op == "add")
    return a + b;
  if (op == "sub")
    return a - b;
  if (op == "mul")
    return a * b;
  if (op == "maximum")
    return std::max(a, b);
  if (op == "tanh")
    return std::tanh(a);
  if (op == "sigmoid")
    return 1 / (1 + std::exp(-a));
  if (op == "relu")
    return std::max(a, 0.0);
  return 0.5 * a * (1 + std::erf(a * M_SQRT1_2));
}

void interpretReduce(ReduceOp op, const Array &x, Array &result) {
  bool isMax = op.getKind() == ReduceKind::Max;
  for (int64_t i = 0; i < kRows; ++i) {
    double total = isMax ? -INFINITY : 0;
    for (int64_t j = 0; j < kColumns; ++j)
      total = isMax ? std::max<double>(total, x.at(i, j)) : total + x.at(i, j);
    result.data[i] = static_cast<float>(total);
  }
}

/// Runs one op that is no cluster.
void interpret(mlir::Operation &op, Arrays &arrays) {
  auto operand = [&](unsigned i) -> const Array & { return arrays.at(op.getOperand(i).getAsOpaquePointer()); };
  Array result(op.getResult(0).getType());
  if (auto constant = mlir::dyn_cast<ConstantOp>(op)) {
    result.data = {mlir::cast<mlir::DenseElementsAttr>(constant.getValue()).getSplatValue<float>()};
    result.outer = result.inner = 0;
  } else if (auto reduce = mlir::dyn_cast<ReduceOp>(op)) {
    interpretReduce(reduce, operand(0), result);
  } else {
    bool isFlip = mlir::isa<FlipOp>(op);
    for (int64_t i = 0; i < kRows; ++i)
      for (int64_t j = 0; j < (result.inner == 0 ? 1 : kColumns); ++j) {
        double a = operand(0).at(isFlip ? kRows - 1 - i : i, j);
        double b = op.getNumOperands() > 1 ? operand(1).at(i, j) : 0;
        double value = isFlip ? a : scalarResult(op.getName().stripDialect(), a, b);
        result.data[i * result.outer + j * result.inner] = static_cast<float>(value);
      }
  }
  arrays.emplace(op.getResult(0).getAsOpaquePointer(), std::move(result));
}

/// Runs a cluster. With `inPlace`, a result replaces the first operand of its type, of which the kernel gets a copy.
void runCluster(ClusterOp op, KernelFunction function, Arrays &arrays, bool inPlace) {
  std::vector<Array> results;
  std::vector<Argument> arguments;
  for (mlir::Value operand : op.getValues()) {
    const Array &array = arrays.at(operand.getAsOpaquePointer());
    arguments.push_back({array.data.data(), array.outer, array.inner});
  }
  for (mlir::Value result : op.getResults())
    results.emplace_back(result.getType());
  std::set<size_t> taken;
  for (auto [value, array] : llvm::zip(op.getResults(), results)) {
    for (auto [i, operand] : llvm::enumerate(op.getValues()))
      if (inPlace && operand.getType() == value.getType() && taken.insert(i).second) {
        array.data = arrays.at(operand.getAsOpaquePointer()).data;
        arguments[i].data = array.data.data();
        break;
      }
    arguments.push_back({array.data.data(), array.outer, array.inner});
  }
  bool hasColumns = llvm::any_of(arguments, [](const Argument &argument) { return argument.inner != 0; });
  call(function, kRows, hasColumns ? kColumns : 1, arguments);
  for (auto [value, array] : llvm::zip(op.getResults(), results))
    arrays.emplace(value.getAsOpaquePointer(), std::move(array));
}

std::vector<Array> run(Kernels &kernels, bool inPlace) {
  auto function = *kernels.root().getOps<mlir::func::FuncOp>().begin();
  Arrays arrays;
  for (mlir::BlockArgument argument : function.getArguments()) {
    Array array(argument.getType());
    for (size_t i = 0; i < array.data.size(); ++i)
      array.data[i] = static_cast<float>(std::sin(0.37 * static_cast<double>(i * (argument.getArgNumber() + 1))));
    arrays.emplace(argument.getAsOpaquePointer(), std::move(array));
  }
  size_t number = 0;
  for (mlir::Operation &op : function.front().without_terminator())
    if (auto cluster = mlir::dyn_cast<ClusterOp>(op))
      runCluster(cluster, kernels.function(number++), arrays, inPlace);
    else
      interpret(op, arrays);
  std::vector<Array> results;
  for (mlir::Value result : function.front().getTerminator()->getOperands())
    results.push_back(arrays.at(result.getAsOpaquePointer()));
  return results;
}

void formClusters(mlir::ModuleOp module) {
  mlir::PassManager passes(module.getContext());
  passes.addNestedPass<mlir::func::FuncOp>(createFormClustersPass());
  ASSERT_TRUE(mlir::succeeded(passes.run(module)));
}

TEST(Random, ClustersComputeWhatTheirOpsDo) {
  const char *count = std::getenv("INGOT_RANDOM_PROGRAMS");
  for (int seed = 0; seed < (count ? std::atoi(count) : 6); ++seed) {
    std::string text = ProgramWriter(seed).write(30);
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    Kernels plain(text), clustered(text, formClusters);
    std::vector<Array> expected = run(plain, false);
    for (bool inPlace : {false, true}) {
      SCOPED_TRACE(inPlace ? "in place" : "apart");
      std::vector<Array> actual = run(clustered, inPlace);
      for (size_t r = 0; r < expected.size(); ++r)
        for (size_t i = 0; i < expected[r].data.size(); ++i)
          ASSERT_NEAR(actual[r].data[i], expected[r].data[i], 2e-4 * std::max(1.0f, std::abs(expected[r].data[i])));
    }
  }
}

} // namespace
} // namespace ingot::codegen
