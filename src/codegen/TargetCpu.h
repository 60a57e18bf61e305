// The machine that kernels are compiled for.
#pragma once

#include <string>
#include <string_view>

namespace ingot::codegen {

struct TargetCpu {
  std::string triple;   ///< "x86_64-pc-linux-gnu"
  std::string name;     ///< LLVM's name of the CPU, "sapphirerapids"
  std::string features; ///< LLVM's feature string, sorted: "+avx2,-sse4a,..."

  /// The machine this process runs on.
  static TargetCpu host();

  bool hasFeature(std::string_view feature) const;

  /// Short name for caches: kernels compiled under one key run on every machine with the same key.
  std::string key() const;
};

} // namespace ingot::codegen
