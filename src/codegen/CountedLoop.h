// A counted loop while it is being emitted, with values that are carried from one iteration to the next.
#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>

namespace ingot::codegen {

/// Emitted in rotated form behind a guard: what LLVM's loop passes would turn it into.
class CountedLoop {
public:
  /// Starts the loop begin, begin + step, ... < end at the builder's position and enters its body.
  CountedLoop(llvm::IRBuilder<> &builder, llvm::Value *begin, llvm::Value *end, int64_t step = 1,
              llvm::ArrayRef<llvm::Value *> initial = {});

  llvm::Value *index() const { return counter; }
  llvm::ArrayRef<llvm::Value *> carried() const { return current; }

  /// Ends the body, whose iteration hands `next` on, and leaves the loop. Returns the carried values after it.
  llvm::SmallVector<llvm::Value *> finish(llvm::ArrayRef<llvm::Value *> next = {}, llvm::MDNode *metadata = nullptr);

private:
  llvm::PHINode *phi(llvm::Value *initial);

  llvm::IRBuilder<> &builder;
  llvm::Value *end;
  int64_t step;
  llvm::BasicBlock *before, *after;
  llvm::PHINode *counter = nullptr;
  llvm::SmallVector<llvm::Value *> start, current;
};

} // namespace ingot::codegen
