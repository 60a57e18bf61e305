#include "codegen/RowEmitter.h"

#include "codegen/CountedLoop.h"
#include "codegen/KernelEmitter.h"
#include "codegen/ScalarFunctions.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>

namespace ingot::codegen {

/// A loop over the elements of a row while it is being emitted.
struct RowEmitter::Loop {
  unsigned number;
  llvm::DenseSet<mlir::Value> needed;
  llvm::Value *index = nullptr;
  llvm::MDNode *accessGroup = nullptr;
  Values values;
};

static mlir::Type elementOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getElementType();
}

llvm::Type *RowEmitter::typeAt(size_t pointer) const {
  return storageType(builder.getContext(), cluster.pointerType(pointer).getElementType());
}

/// Operands that do not change along the row are loaded once.
bool RowEmitter::isHoisted(unsigned argument) const {
  return cluster.isRow(cluster.body().getArgument(argument)) || (pattern && (*pattern)[argument] == 0);
}

void RowEmitter::emit(llvm::Value *rowIndex) {
  for (size_t i = 0; i < cluster.pointerCount(); ++i)
    rowPointers.push_back(
        builder.CreateGEP(typeAt(i), arguments.pointers[i], builder.CreateMul(rowIndex, arguments.outerStrides[i])));
  for (mlir::BlockArgument argument : cluster.body().getArguments())
    if (unsigned i = argument.getArgNumber(); isHoisted(i))
      rowValues[argument] = builder.CreateLoad(typeAt(i), rowPointers[i]);
  computeRowValues(0);
  for (unsigned loop = 0; loop < cluster.loopCount(); ++loop) {
    emitLoop(loop);
    computeRowValues(loop + 1);
  }
  storeRowResults();
}

llvm::Constant *RowEmitter::constant(ConstantOp op) const {
  auto elements = mlir::cast<mlir::DenseElementsAttr>(op.getValue());
  llvm::Type *type = storageType(builder.getContext(), elements.getElementType());
  if (!mlir::isa<mlir::FloatType>(elements.getElementType())) {
    auto value = elements.getSplatValue<llvm::APInt>();
    return llvm::ConstantInt::get(type, value.zextOrTrunc(type->getIntegerBitWidth()));
  }
  auto value = elements.getSplatValue<llvm::APFloat>();
  if (type->isFloatingPointTy())
    return llvm::ConstantFP::get(builder.getContext(), value);
  return llvm::ConstantInt::get(type, value.bitcastToAPInt());
}

llvm::Value *RowEmitter::valueOf(mlir::Value value, const Values *elements) const {
  if (elements)
    if (llvm::Value *found = elements->lookup(value))
      return found;
  return rowValues.lookup(value);
}

llvm::Value *RowEmitter::compute(mlir::Operation &op, const Values *elements) {
  if (auto literal = mlir::dyn_cast<ConstantOp>(op))
    return constant(literal);
  llvm::SmallVector<llvm::Value *> operands;
  for (mlir::Value operand : op.getOperands())
    operands.push_back(valueOf(operand, elements));
  if (mlir::isa<CastOp>(op) && elementOf(op.getOperand(0)) == elementOf(op.getResult(0)))
    return operands.front();
  llvm::Type *type = storageType(builder.getContext(), elementOf(op.getResult(0)));
  return callScalar(builder, scalarFunctionName(&op), type, operands);
}

void RowEmitter::computeRowValues(unsigned stage) {
  for (mlir::Operation &op : cluster.body().without_terminator()) {
    mlir::Value result = op.getResult(0);
    if (cluster.isRow(result) && cluster.stageOf(result) == stage && !mlir::isa<ReduceOp>(op))
      rowValues[result] = compute(op, nullptr);
  }
}

llvm::Value *RowEmitter::address(size_t pointer, llvm::Value *index) {
  if (!pattern)
    index = builder.CreateMul(index, arguments.innerStrides[pointer]);
  else if ((*pattern)[pointer] == 0)
    return rowPointers[pointer];
  return builder.CreateGEP(typeAt(pointer), rowPointers[pointer], index);
}

void RowEmitter::loadElements(Loop &loop) {
  auto load = [&](mlir::Value value, size_t pointer) {
    llvm::LoadInst *loaded = builder.CreateLoad(typeAt(pointer), address(pointer, loop.index));
    loaded->setMetadata(llvm::LLVMContext::MD_access_group, loop.accessGroup);
    loop.values[value] = loaded;
  };
  for (mlir::BlockArgument argument : cluster.body().getArguments())
    if (loop.needed.contains(argument) && !isHoisted(argument.getArgNumber()))
      load(argument, argument.getArgNumber());
  for (const Spill &spill : cluster.spills())
    if (loop.needed.contains(spill.value) && spill.loop < loop.number)
      load(spill.value, cluster.body().getNumArguments() + spill.output);
}

void RowEmitter::computeElements(Loop &loop) {
  for (mlir::Operation &op : cluster.body().without_terminator()) {
    mlir::Value result = op.getResult(0);
    if (loop.needed.contains(result) && !loop.values.contains(result))
      loop.values[result] = compute(op, &loop.values);
  }
}

void RowEmitter::storeElements(Loop &loop) {
  size_t operands = cluster.body().getNumArguments();
  auto store = [&](mlir::Value value, size_t output) {
    llvm::StoreInst *stored = builder.CreateStore(valueOf(value, &loop.values), address(operands + output, loop.index));
    stored->setMetadata(llvm::LLVMContext::MD_access_group, loop.accessGroup);
  };
  for (const Spill &spill : cluster.spills())
    if (spill.loop == loop.number)
      store(spill.value, spill.output);
  if (cluster.outputLoop() != loop.number)
    return;
  for (auto [index, output] : llvm::enumerate(cluster.outputs()))
    if (cluster.reduceRank() == 0 || !cluster.isRow(output))
      store(output, index);
}

llvm::MDNode *RowEmitter::loopMetadata(llvm::MDNode *accessGroup) const {
  llvm::LLVMContext &context = builder.getContext();
  auto property = [&](const char *name, llvm::ArrayRef<llvm::Metadata *> values = {}) {
    llvm::SmallVector<llvm::Metadata *> parts = {llvm::MDString::get(context, name)};
    parts.append(values.begin(), values.end());
    return llvm::MDNode::get(context, parts);
  };
  llvm::SmallVector<llvm::Metadata *> parts = {nullptr};
  // No iteration reads what another one writes, even where a result lies in an operand's memory.
  parts.push_back(property("llvm.loop.parallel_accesses", {accessGroup}));
  parts.push_back(property("llvm.loop.mustprogress"));
  // With strides known at run time only, vectors are gathered: worth its compile time only before long computations.
  if (!pattern && (cluster.reduceRank() != 0 || !cluster.hasExpensiveOp())) {
    llvm::Metadata *no = llvm::ConstantAsMetadata::get(llvm::ConstantInt::getFalse(context));
    parts.push_back(property("llvm.loop.vectorize.enable", {no}));
    parts.push_back(property("llvm.loop.unroll.disable"));
  }
  llvm::MDNode *node = llvm::MDNode::getDistinct(context, parts);
  node->replaceOperandWith(0, node);
  return node;
}

static llvm::SmallVector<llvm::Value *> initialValues(llvm::ArrayRef<Reduction> reductions) {
  llvm::SmallVector<llvm::Value *> values;
  for (const Reduction &reduction : reductions)
    values.push_back(reduction.initial());
  return values;
}

/// The innermost loop, from element `begin` to `end`. Returns the accumulators of the reductions.
llvm::SmallVector<llvm::Value *> RowEmitter::emitElements(unsigned number, llvm::Value *begin, llvm::Value *end,
                                                          llvm::ArrayRef<Reduction> reductions) {
  CountedLoop counted(builder, begin, end, 1, initialValues(reductions));
  Loop loop{number, cluster.neededIn(number), counted.index(), llvm::MDNode::getDistinct(builder.getContext(), {}),
            Values()};
  loadElements(loop);
  computeElements(loop);
  llvm::SmallVector<llvm::Value *> next;
  for (auto [reduction, accumulator] : llvm::zip(reductions, counted.carried()))
    next.push_back(reduction.combine(accumulator, valueOf(reduction.input(), &loop.values)));
  storeElements(loop);
  return counted.finish(next, loopMetadata(loop.accessGroup));
}

/// Sums of sums, of at most so many elements or smaller sums each: that rounds less than one long sum.
llvm::SmallVector<llvm::Value *> RowEmitter::emitBlocks(unsigned number, llvm::Value *begin, llvm::Value *end,
                                                        llvm::ArrayRef<Reduction> reductions,
                                                        llvm::ArrayRef<int64_t> blocks) {
  if (blocks.empty())
    return emitElements(number, begin, end, reductions);
  CountedLoop loop(builder, begin, end, blocks.front(), initialValues(reductions));
  llvm::Value *next = builder.CreateNSWAdd(loop.index(), builder.getInt64(blocks.front()));
  llvm::Value *limit = builder.CreateBinaryIntrinsic(llvm::Intrinsic::smin, next, end);
  auto parts = emitBlocks(number, loop.index(), limit, reductions, blocks.drop_front());
  for (auto [reduction, part, total] : llvm::zip(reductions, parts, loop.carried()))
    part = reduction.merge(total, part);
  return loop.finish(parts);
}

/// A vector's lanes sum up their share of a block; without vectors one accumulator takes all of it.
static constexpr int64_t kBlock = 4096, kScalarBlocks[] = {256, 16};

void RowEmitter::emitLoop(unsigned number) {
  llvm::SmallVector<Reduction> reductions;
  for (ReduceOp op : cluster.reductionsIn(number))
    reductions.emplace_back(op, builder);
  llvm::SmallVector<int64_t> blocks;
  if (llvm::any_of(reductions, [](const Reduction &reduction) { return reduction.rounds(); })) {
    blocks.push_back(kBlock);
    if (!pattern || llvm::any_of(cluster.body(), [](mlir::Operation &op) { return callsLibrary(&op); }))
      llvm::append_range(blocks, kScalarBlocks);
  }
  auto totals = emitBlocks(number, builder.getInt64(0), arguments.rowLength, reductions, blocks);
  for (auto [reduction, total, op] : llvm::zip(reductions, totals, cluster.reductionsIn(number)))
    rowValues[ReduceOp(op).getResult()] = reduction.finish(total);
}

void RowEmitter::storeRowResults() {
  if (cluster.reduceRank() == 0)
    return;
  for (auto [index, output] : llvm::enumerate(cluster.outputs()))
    if (cluster.isRow(output))
      builder.CreateStore(valueOf(output), rowPointers[cluster.body().getNumArguments() + index]);
}

} // namespace ingot::codegen
