#include "codegen/TargetCpu.h"

#include <algorithm>
#include <vector>

#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/Support/xxhash.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>

namespace ingot::codegen {

TargetCpu TargetCpu::host() {
  TargetCpu cpu;
  cpu.triple = llvm::sys::getProcessTriple();
  cpu.name = llvm::sys::getHostCPUName().str();
  std::vector<std::string> features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    features.push_back((feature.second ? "+" : "-") + feature.first().str());
  std::ranges::sort(features);
  cpu.features = llvm::join(features, ",");
  return cpu;
}

bool TargetCpu::hasFeature(std::string_view feature) const {
  std::string wanted = "+" + std::string(feature);
  llvm::SmallVector<llvm::StringRef> all;
  llvm::StringRef(features).split(all, ',');
  return llvm::is_contained(all, llvm::StringRef(wanted));
}

std::string TargetCpu::key() const {
  std::string arch = llvm::Triple(triple).getArchName().str();
  std::string digest = llvm::utohexstr(llvm::xxh3_64bits(llvm::StringRef(triple + "|" + features)), true, 16);
  return arch + "-" + name + "-" + digest;
}

} // namespace ingot::codegen
