#include "codegen/Codegen.h"

#include "base/Async.h"
#include "codegen/Cluster.h"
#include "codegen/Custom.h"
#include "codegen/KernelEmitter.h"
#include "codegen/Link.h"
#include "codegen/Optimize.h"
#include "dialect/Types.h"
#include "runtime/kernels/cluster/ClusterSymbol.h"

#include <map>
#include <memory>
#include <set>
#include <thread>

#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/xxhash.h>

namespace ingot::codegen {

namespace {

std::string signatureOf(const Cluster &cluster) {
  std::vector<DType> dtypes;
  for (size_t i = 0; i < cluster.pointerCount(); ++i)
    dtypes.push_back(*dtypeOfType(cluster.pointerType(i).getElementType())); // what is compiled has types of PyTorch
  std::span<const DType> all(dtypes);
  size_t operands = cluster.body().getNumArguments();
  return clusterSignature(cluster.reduceRank() != 0, all.first(operands), all.subspan(operands));
}

/// Structural keys and the symbols given to them. Two keys with one hash get different symbols.
class Symbols {
public:
  /// The symbol of the function for `cluster`, and whether it is new.
  std::pair<std::string, bool> add(const Cluster &cluster) {
    std::string key = cluster.structuralKey();
    auto known = byKey.find(key);
    if (known != byKey.end())
      return {known->second, false};
    std::string name = "k_" + llvm::utohexstr(llvm::xxh3_64bits(llvm::StringRef(key)), true, 16);
    std::string signature = signatureOf(cluster);
    while (!taken.insert(name + signature).second)
      name += "_";
    std::string symbol = name + signature;
    byKey.emplace(key, symbol);
    return {symbol, true};
  }
  std::vector<std::string> all() const { return {taken.begin(), taken.end()}; }

private:
  std::map<std::string, std::string> byKey;
  std::set<std::string> taken;
};

Error locate(Error error, ClusterOp op) {
  std::string where;
  llvm::raw_string_ostream stream(where);
  op.getLoc().print(stream);
  return std::move(error).note("in the cluster at " + stream.str());
}

/// Kernels that are compiled together. Parts are independent, so that threads can compile them side by side.
struct Part {
  llvm::LLVMContext context;
  llvm::Module module{"kernels", context};
  size_t work = 0; ///< a measure of compile time

  void add(const Cluster &cluster, const std::string &symbol) {
    emitKernel(module, cluster, symbol);
    work += module.getFunction(symbol)->getInstructionCount();
  }

  Result<std::string> compile(const TargetCpu &target) {
    INGOT_TRY(auto machine, createTargetMachine(target));
    return emitObject(module, *machine);
  }
};

/// As many parts as there are processors, at two kernels or more each.
std::vector<std::unique_ptr<Part>> makeParts(size_t kernels) {
  size_t processors = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::unique_ptr<Part>> parts(std::clamp<size_t>(kernels / 2, 1, processors));
  for (std::unique_ptr<Part> &part : parts)
    part = std::make_unique<Part>();
  return parts;
}

Result<std::vector<std::string>> compileParts(llvm::ArrayRef<std::unique_ptr<Part>> parts, const TargetCpu &target) {
  std::vector<std::future<Result<std::string>>> running;
  for (const std::unique_ptr<Part> &part : parts.drop_front())
    running.push_back(startAsync([&] { return part->compile(target); }));
  std::vector<Result<std::string>> results;
  results.push_back(parts.front()->compile(target));
  for (std::future<Result<std::string>> &result : running)
    results.push_back(result.get());
  std::vector<std::string> objects;
  for (Result<std::string> &result : results) {
    INGOT_TRY(std::string object, std::move(result));
    objects.push_back(std::move(object));
  }
  return objects;
}

using Kernels = std::vector<std::pair<Cluster, std::string>>; ///< one for each symbol

Result<std::vector<std::string>> compileKernels(const Kernels &kernels, const TargetCpu &target) {
  auto parts = makeParts(kernels.size());
  for (const auto &[cluster, symbol] : kernels)
    (*llvm::min_element(parts, [](const auto &a, const auto &b) { return a->work < b->work; }))->add(cluster, symbol);
  return compileParts(parts, target);
}

} // namespace

Result<CompiledKernels> compileClusters(mlir::ModuleOp module, const TargetCpu &target) {
  Symbols symbols;
  Kernels kernels;
  mlir::Builder builder(module.getContext());
  std::optional<Error> problem;
  module.walk([&](ClusterOp op) {
    Result<Cluster> cluster = Cluster::analyse(op);
    if (!cluster) {
      problem = locate(std::move(cluster.error()), op);
      return mlir::WalkResult::interrupt();
    }
    auto [symbol, isNew] = symbols.add(*cluster);
    op.setSymbol(symbol);
    op->setDiscardableAttr(kReduceAttr, builder.getBoolAttr(cluster->reduceRank() != 0));
    op->setDiscardableAttr(kReduceRankAttr, builder.getI64IntegerAttr(cluster->reduceRank()));
    if (isNew)
      kernels.emplace_back(*std::move(cluster), symbol);
    return mlir::WalkResult::advance();
  });
  if (problem)
    return *std::move(problem);
  std::vector<std::string> objects;
  if (!kernels.empty()) {
    INGOT_TRY(objects, compileKernels(kernels, target));
  }
  INGOT_TRY(CustomObjects custom, compileCustom(module, target));
  llvm::append_range(objects, custom.objects);
  if (objects.empty())
    return CompiledKernels();
  INGOT_TRY(std::string library,
            linkSharedLibrary(objects, custom.objects.empty() ? LinkKind::Clusters : LinkKind::UserCode));
  std::vector<std::string> all = symbols.all();
  llvm::append_range(all, custom.symbols);
  llvm::sort(all);
  return CompiledKernels{std::move(library), std::move(all)};
}

} // namespace ingot::codegen
