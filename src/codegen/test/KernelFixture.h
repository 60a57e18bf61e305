// Compiles clusters given as text, opens the library and calls its functions.
#pragma once

#include "codegen/Codegen.h"
#include "dialect/Ops.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>

#include <dlfcn.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Parser/Parser.h>

namespace ingot::codegen {

using KernelFunction = void (*)(void *const *, int64_t, int64_t, const int64_t *, const int64_t *);

/// A parsed module, compiled. Failures are test failures; `symbols` is empty then.
class Kernels {
public:
  explicit Kernels(const std::string &text, const std::function<void(mlir::ModuleOp)> &prepare = {}) {
    context.loadDialect<IngotDialect, mlir::func::FuncDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module) {
      ADD_FAILURE() << "the test's IR does not parse";
      return;
    }
    if (prepare)
      prepare(*module);
    auto compiled = compileClusters(*module, TargetCpu::host());
    if (!compiled) {
      ADD_FAILURE() << compiled.error().str();
      return;
    }
    symbols = compiled->symbols;
    if (!compiled->library.empty())
      open(compiled->library);
    module->walk([&](ClusterOp op) { clusters.push_back(op); });
  }
  ~Kernels() {
    if (library)
      dlclose(library);
  }
  Kernels(const Kernels &) = delete;
  Kernels &operator=(const Kernels &) = delete;

  KernelFunction function(size_t cluster = 0) {
    if (!library || cluster >= clusters.size())
      return nullptr;
    void *found = dlsym(library, clusters[cluster].getSymbol()->str().c_str());
    return reinterpret_cast<KernelFunction>(found);
  }

  void *find(const std::string &symbol) { return library ? dlsym(library, symbol.c_str()) : nullptr; }

  mlir::ModuleOp root() { return *module; }

  std::vector<std::string> symbols;
  std::vector<ClusterOp> clusters;

private:
  void open(const std::string &bytes) {
    std::string path = testing::TempDir() + "/ingot_kernels_XXXXXX";
    int file = mkstemp(path.data());
    ASSERT_GE(file, 0);
    close(file);
    std::ofstream(path, std::ios::binary) << bytes;
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      ADD_FAILURE() << dlerror();
    if (!getenv("INGOT_KEEP_KERNELS"))
      std::remove(path.c_str());
    else
      std::printf("kernels: %s\n", path.c_str());
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  void *library = nullptr;
};

/// One pointer of a call with its strides.
struct Argument {
  const void *data;
  int64_t outer, inner;
};

inline void call(KernelFunction function, int64_t n0, int64_t n1, const std::vector<Argument> &arguments) {
  ASSERT_NE(function, nullptr);
  std::vector<void *> pointers;
  std::vector<int64_t> outer, inner;
  for (const Argument &argument : arguments) {
    pointers.push_back(const_cast<void *>(argument.data));
    outer.push_back(argument.outer);
    inner.push_back(argument.inner);
  }
  function(pointers.data(), n0, n1, outer.data(), inner.data());
}

/// A function with one cluster whose body is `body`; block arguments are %a, %b, %c, ... of the given types.
inline std::string clusterText(const std::vector<std::string> &operands, const std::string &body,
                               const std::vector<std::string> &results) {
  std::string values, arguments, blockArguments, types, resultTypes;
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string separator = i == 0 ? "" : ", ";
    values += separator + "%x" + std::to_string(i);
    arguments += separator + "%x" + std::to_string(i) + ": " + operands[i];
    blockArguments += separator + "%" + std::string(1, static_cast<char>('a' + i)) + ": " + operands[i];
    types += separator + operands[i];
  }
  for (size_t i = 0; i < results.size(); ++i)
    resultTypes += (i == 0 ? "" : ", ") + results[i];
  std::string count = results.size() > 1 ? ":" + std::to_string(results.size()) : "";
  return "func.func @f(" + arguments + ") {\n  %r" + count + " = ingot.cluster(" + values + ") {\n  ^bb0(" +
         blockArguments + "):\n" + body + "\n  } : (" + types + ") -> (" + resultTypes + ")\n  return\n}\n";
}

} // namespace ingot::codegen
