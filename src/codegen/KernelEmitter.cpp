#include "codegen/KernelEmitter.h"

#include "codegen/CountedLoop.h"
#include "codegen/RowEmitter.h"

#include <llvm/IR/Function.h>

namespace ingot::codegen {

llvm::Type *storageType(llvm::LLVMContext &context, mlir::Type elementType) {
  if (elementType.isF32())
    return llvm::Type::getFloatTy(context);
  if (elementType.isF64())
    return llvm::Type::getDoubleTy(context);
  unsigned bits = elementType.getIntOrFloatBitWidth();
  return llvm::Type::getIntNTy(context, bits == 1 ? 8 : bits);
}

llvm::Value *callScalar(llvm::IRBuilder<> &builder, const std::string &name, llvm::Type *result,
                        llvm::ArrayRef<llvm::Value *> arguments) {
  llvm::SmallVector<llvm::Type *> types;
  for (llvm::Value *argument : arguments)
    types.push_back(argument->getType());
  llvm::Module *module = builder.GetInsertBlock()->getModule();
  return builder.CreateCall(module->getOrInsertFunction(name, llvm::FunctionType::get(result, types, false)),
                            arguments);
}

namespace {

class KernelEmitter {
public:
  KernelEmitter(llvm::Module &module, const Cluster &cluster, llvm::StringRef symbol)
      : cluster(cluster), builder(module.getContext()) {
    llvm::Type *pointer = builder.getPtrTy(), *number = builder.getInt64Ty();
    auto *type = llvm::FunctionType::get(builder.getVoidTy(), {pointer, number, number, pointer, pointer}, false);
    function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module);
    function->setDoesNotThrow();
    for (unsigned table : {0u, 3u, 4u})
      function->addParamAttr(table, llvm::Attribute::ReadOnly);
  }

  void emit() {
    loadArguments();
    for (const StridePattern &pattern : cluster.patterns()) {
      llvm::BasicBlock *fast = block("fast"), *otherwise = block("otherwise");
      builder.CreateCondBr(matches(pattern), fast, otherwise);
      builder.SetInsertPoint(fast);
      emitRows(&pattern);
      builder.SetInsertPoint(otherwise);
    }
    emitRows(nullptr);
  }

private:
  llvm::BasicBlock *block(const char *name) { return llvm::BasicBlock::Create(builder.getContext(), name, function); }

  void loadArguments() {
    builder.SetInsertPoint(block("entry"));
    arguments.rowCount = function->getArg(1);
    arguments.rowLength = function->getArg(2);
    for (size_t i = 0; i < cluster.pointerCount(); ++i) {
      auto load = [&](llvm::Type *type, unsigned table) {
        return builder.CreateLoad(type, builder.CreateConstInBoundsGEP1_64(type, function->getArg(table), i));
      };
      arguments.pointers.push_back(load(builder.getPtrTy(), 0));
      arguments.outerStrides.push_back(load(builder.getInt64Ty(), 3));
      arguments.innerStrides.push_back(load(builder.getInt64Ty(), 4));
    }
    // A cluster without reductions has nothing to do, and nothing to load, when rows are empty.
    llvm::BasicBlock *work = block("work"), *done = block("done");
    llvm::Value *zero = builder.getInt64(0);
    llvm::Value *isBusy = builder.CreateICmpSGT(arguments.rowCount, zero);
    if (cluster.reduceRank() == 0)
      isBusy = builder.CreateAnd(isBusy, builder.CreateICmpSGT(arguments.rowLength, zero));
    builder.CreateCondBr(isBusy, work, done);
    builder.SetInsertPoint(done);
    builder.CreateRetVoid();
    builder.SetInsertPoint(work);
  }

  /// True when the inner strides are those of the pattern.
  llvm::Value *matches(const StridePattern &pattern) {
    llvm::Value *difference = builder.getInt64(0);
    for (auto [stride, expected] : llvm::zip(arguments.innerStrides, pattern))
      difference = builder.CreateOr(difference, builder.CreateXor(stride, builder.getInt64(expected)));
    return builder.CreateICmpEQ(difference, builder.getInt64(0));
  }

  void emitRows(const StridePattern *pattern) {
    CountedLoop rows(builder, builder.getInt64(0), arguments.rowCount);
    RowEmitter(builder, cluster, arguments, pattern).emit(rows.index());
    rows.finish();
    builder.CreateRetVoid();
  }

  const Cluster &cluster;
  llvm::IRBuilder<> builder;
  llvm::Function *function;
  KernelArguments arguments;
};

} // namespace

void emitKernel(llvm::Module &module, const Cluster &cluster, llvm::StringRef symbol) {
  KernelEmitter(module, cluster, symbol).emit();
}

} // namespace ingot::codegen
