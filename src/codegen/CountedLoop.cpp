#include "codegen/CountedLoop.h"

namespace ingot::codegen {

CountedLoop::CountedLoop(llvm::IRBuilder<> &builder, llvm::Value *begin, llvm::Value *end, int64_t step,
                         llvm::ArrayRef<llvm::Value *> initial)
    : builder(builder), end(end), step(step), before(builder.GetInsertBlock()), start(initial) {
  llvm::Function *function = before->getParent();
  auto *body = llvm::BasicBlock::Create(builder.getContext(), "loop", function);
  after = llvm::BasicBlock::Create(builder.getContext(), "after", function);
  builder.CreateCondBr(builder.CreateICmpSLT(begin, end), body, after);
  builder.SetInsertPoint(body);
  counter = phi(begin);
  for (llvm::Value *value : initial)
    current.push_back(phi(value));
}

llvm::PHINode *CountedLoop::phi(llvm::Value *initial) {
  llvm::PHINode *node = builder.CreatePHI(initial->getType(), 2);
  node->addIncoming(initial, before);
  return node;
}

llvm::SmallVector<llvm::Value *> CountedLoop::finish(llvm::ArrayRef<llvm::Value *> next, llvm::MDNode *metadata) {
  llvm::Value *nextIndex = builder.CreateNSWAdd(counter, builder.getInt64(step));
  llvm::BasicBlock *body = counter->getParent(), *last = builder.GetInsertBlock();
  llvm::BranchInst *latch = builder.CreateCondBr(builder.CreateICmpSLT(nextIndex, end), body, after);
  if (metadata)
    latch->setMetadata(llvm::LLVMContext::MD_loop, metadata);
  counter->addIncoming(nextIndex, last);
  builder.SetInsertPoint(after);
  llvm::SmallVector<llvm::Value *> results;
  for (size_t i = 0; i < next.size(); ++i) {
    llvm::cast<llvm::PHINode>(current[i])->addIncoming(next[i], last);
    llvm::PHINode *result = phi(start[i]);
    result->addIncoming(next[i], last);
    results.push_back(result);
  }
  return results;
}

} // namespace ingot::codegen
