#include "passes/functionalise/AliasSets.h"
#include "passes/functionalise/InPlace.h"
#include "passes/functionalise/Passes.h"
#include "passes/functionalise/Statistics.h"

#include "dialect/Conventions.h"
#include "import/Carrier.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ingot {
namespace {

/// One walk over a block: every use is made to see the content of its tensor at that point.
class Functionaliser {
public:
  explicit Functionaliser(Block &block) : block(block), builder(block.getParentOp()->getContext()), aliases(builder) {
    for (BlockArgument argument : block.getArguments())
      aliases.addBase(argument);
    for (auto weight : block.getOps<WeightOp>())
      aliases.addBase(weight.getResult());
  }

  LogicalResult run();
  /// Erases what the walk has left without uses. Only after success.
  void clean();

  bool isWritten(Value base) const { return aliases.isWritten(base); }
  bool isReadLate(BlockArgument argument) const { return lateReads.contains(argument); }
  const std::set<std::string> &notOne() const { return aliases.notOne(); }
  /// The content of `base` when the block ends.
  Value finalContent(Value base) {
    builder.setInsertionPoint(block.getTerminator());
    return aliases.content(base);
  }

private:
  void noteLateReads(ArrayRef<Value> operands);
  void noteWrites(ArrayRef<Value> operands);
  Value argumentOf(Value tensor);
  void visit(AtenOp op, ArrayRef<Value> originals);
  void visitBodies(AtenOp op);
  void visitViews(AtenOp op, const pt2::OpSchema &schema, ArrayRef<Value> originals);
  void visitBroadcast(AtenOp op, ArrayRef<Value> originals);
  void visitMetadataWrite(AtenOp op, StringRef view, ArrayRef<Value> originals);
  void visitStatistics(AtenOp op, ArrayRef<Value> originals);
  void visitWrite(AtenOp op, const pt2::OpSchema &schema, ArrayRef<Value> originals);
  void visitFillDiagonal(AtenOp op, Value matrix, Value original);
  bool canResize(AtenOp op, ArrayRef<Value> originals);
  void visitResize(AtenOp op, ArrayRef<Value> originals);
  void keepWrite(AtenOp op, const pt2::OpSchema &schema, ArrayRef<std::string> written, ArrayRef<Value> originals);
  AtenOp createPure(AtenOp op, const pt2::OpSchema &schema, const PureForm &form);
  bool sharesMemory(AtenOp op, Value input);
  void fail() { result = failure(); }

  Block &block;
  OpBuilder builder;
  AliasSets aliases;
  SmallVector<Operation *> writers; ///< replaced by pure nodes
  llvm::DenseSet<Operation *> exported;
  llvm::DenseSet<Value> changedArguments, lateReads;
  LogicalResult result = success();
};

LogicalResult Functionaliser::run() {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    ops.push_back(&op);
  exported.insert(ops.begin(), ops.end());
  for (Operation *op : ops) {
    builder.setInsertionPoint(op);
    SmallVector<Value> originals(op->getOperands());
    noteLateReads(originals);
    for (OpOperand &operand : op->getOpOperands())
      operand.set(aliases.current(operand.get()));
    if (auto carrier = dyn_cast<AtenOp>(op))
      visit(carrier, originals);
    noteWrites(originals);
  }
  return result;
}

/// In a call, two arguments may be in one piece of memory: what is read after a write would have to be what was written.
void Functionaliser::noteLateReads(ArrayRef<Value> operands) {
  if (changedArguments.empty())
    return;
  for (Value operand : operands)
    if (Value argument = argumentOf(operand))
      if (changedArguments.size() > changedArguments.count(argument))
        lateReads.insert(argument);
}

void Functionaliser::noteWrites(ArrayRef<Value> operands) {
  for (Value operand : operands)
    if (Value argument = argumentOf(operand); argument && aliases.isWritten(argument))
      changedArguments.insert(argument);
}

/// The argument whose memory a tensor is in, or null.
Value Functionaliser::argumentOf(Value tensor) {
  if (!isa<RankedTensorType>(tensor.getType()))
    return {};
  auto argument = dyn_cast<BlockArgument>(aliases.memoryOf(tensor));
  return argument && argument.getOwner() == &block ? Value(argument) : Value();
}

void Functionaliser::visit(AtenOp op, ArrayRef<Value> originals) {
  visitBodies(op);
  if (updatesStatistics(op))
    return visitStatistics(op, originals);
  const pt2::OpSchema *schema = pt2::findSchema(std::string_view(op.getTarget()));
  if (!schema)
    return;
  if (std::string view = viewOfMetadataWrite(op.getTarget()); !view.empty())
    return visitMetadataWrite(op, view, originals);
  if (schema->isMutable() && !keepsStatistics(op))
    return visitWrite(op, *schema, originals);
  visitViews(op, *schema, originals);
}

void Functionaliser::visitBodies(AtenOp op) {
  for (Region &graph : op.getGraphs()) {
    Functionaliser inner(graph.front());
    if (failed(inner.run())) {
      fail();
      continue;
    }
    for (BlockArgument argument : graph.front().getArguments())
      if (inner.isWritten(argument)) {
        op.emitError("a sub-graph of '") << op.getTarget() << "' changes its operand number " << argument.getArgNumber()
                                         << " in place, which is not supported; "
                                         << "return the new value instead";
        fail();
      }
    aliases.addNotOne(inner.notOne());
    if (succeeded(result))
      inner.clean();
  }
}

/// Nodes that are annotated as views, but copy when they must.
bool Functionaliser::sharesMemory(AtenOp op, Value input) {
  StringRef name = TargetName(op.getTarget()).name;
  if (name == "aten::to")
    return op.getResult(0).getType() == input.getType() && !booleanOf(op, "copy").value_or(false);
  if (name != "aten::contiguous" && name != "aten::reshape" && name != "aten::flatten" && name != "aten::reshape_as" &&
      name != "aten::ravel")
    return true;
  auto notOne = op->getAttrOfType<ArrayAttr>(attr::kNotOne);
  Attribute exported = op->getAttr(attr::kShares);
  if (!exported)
    return aliases.isContiguous(input);
  auto shares = dyn_cast<BoolAttr>(exported);
  if (shares && shares.getValue())
    return true;
  if (!shares || notOne)
    aliases.addUncertainCopy(op.getResult(0), input, notOne);
  return false;
}

/// Views without an annotation in the schema: at inference, or always.
static bool isUnannotatedView(AtenOp op, Value input) {
  static const llvm::StringSet<> dropouts = {"aten::dropout", "aten::feature_dropout", "aten::alpha_dropout"};
  static const llvm::StringSet<> views = {"aten::atleast_1d",   "aten::atleast_2d",   "aten::atleast_3d",
                                          "aten::unsafe_chunk", "aten::unsafe_split", "aten::unsafe_split_with_sizes"};
  StringRef name = TargetName(op.getTarget()).name;
  if (name == "aten::type_as" || name == "aten::sum_to_size")
    return op->getNumResults() == 1 && op.getResult(0).getType() == input.getType() &&
           (name == "aten::type_as" || cast<RankedTensorType>(input.getType()).hasStaticShape());
  return views.contains(name) || (dropouts.contains(name) && booleanOf(op, "train") == false);
}

/// Nodes of which results may be views of any of their operands, as operands are.
static bool mayShareAnything(AtenOp op) {
  TargetName target(op.getTarget());
  return target.overload == "Sequence" || (target.name == "aten::einsum" && op.getValues().size() == 1);
}

/// Every result is a broadcast view of the operand of its number.
static bool broadcastsOperands(AtenOp op) {
  StringRef name = TargetName(op.getTarget()).name;
  bool isOne = name == "aten::broadcast_tensors" || name == "aten::meshgrid";
  return isOne && op.getNumResults() == op.getValues().size() &&
         llvm::all_of(op->getOperandTypes(), [](Type type) { return isa<RankedTensorType>(type); });
}

static bool shareASet(const std::optional<pt2::AliasInfo> &a, const std::optional<pt2::AliasInfo> &b) {
  if (!a || !b)
    return false;
  return llvm::any_of(a->sets, [&](const std::string &set) { return llvm::is_contained(b->sets, set); });
}

void Functionaliser::visitViews(AtenOp op, const pt2::OpSchema &schema, ArrayRef<Value> originals) {
  auto addViews = [&](const std::string &argument, unsigned first, unsigned count) {
    std::optional<unsigned> number = operandNumberOf(op, argument);
    if (!number || !sharesMemory(op, originals[*number]))
      return;
    for (unsigned i = first; i < first + count; ++i)
      aliases.addView(op.getResult(i), {op, argument, i}, originals[*number]);
  };
  std::optional<unsigned> first = operandNumberOf(op, schema.arguments.empty() ? "" : schema.arguments.front().name);
  if (first && isUnannotatedView(op, originals[*first]))
    return addViews(schema.arguments.front().name, 0, op.getNumResults());
  if (broadcastsOperands(op))
    return visitBroadcast(op, originals);
  if (mayShareAnything(op))
    for (Value result : op.getResults())
      for (Value original : originals)
        aliases.addUncertainCopy(result, original, {});
  for (auto [i, returned] : llvm::enumerate(schema.returns))
    for (const pt2::SchemaArgument &argument : schema.arguments) {
      if (!argument.type.isTensor() || !shareASet(argument.alias, returned.alias))
        continue;
      bool list = returned.type.isTensorList() && schema.returns.size() == 1;
      if (list)
        addViews(argument.name, 0, op.getNumResults());
      else if (i < op.getNumResults())
        addViews(argument.name, i, 1);
    }
}

/// Taken apart into what each result is: its operand with dimensions of 1, expanded.
void Functionaliser::visitBroadcast(AtenOp op, ArrayRef<Value> originals) {
  auto indexing = op.getArgs().getAs<StringAttr>("indexing");
  builder.setInsertionPointAfter(op);
  bool isGrid = TargetName(op.getTarget()).name == "aten::meshgrid", isXy = indexing && indexing.getValue() == "xy";
  for (auto [i, original] : llvm::enumerate(originals)) {
    Value seen = original, now = op.getValues()[i];
    auto type = cast<RankedTensorType>(op.getResult(i).getType()), from = cast<RankedTensorType>(now.getType());
    auto add = [&](CarrierBuilder carrier, RankedTensorType made) {
      now = carrier.value(made);
      aliases.addView(now, {now.getDefiningOp<AtenOp>(), "self", 0}, seen);
      seen = now;
    };
    int64_t rank = type.getRank(), axis = isXy && i < 2 && rank > 1 ? 1 - static_cast<int64_t>(i) : i;
    // The dimensions before the operand's own come with the expansion.
    for (int64_t after = isGrid ? axis + 1 : rank; after < rank; ++after) {
      SmallVector<int64_t> shape(cast<RankedTensorType>(now.getType()).getShape());
      shape.push_back(1);
      add(CarrierBuilder(builder, op.getLoc(), "aten::unsqueeze").arg("self", now).arg("dim", int64_t{-1}),
          RankedTensorType::get(shape, from.getElementType()));
    }
    add(CarrierBuilder(builder, op.getLoc(), "aten::expand_as").arg("self", now).arg("other", op.getResult(i)), type);
    aliases.addAlias(op.getResult(i), now);
  }
}

void Functionaliser::visitMetadataWrite(AtenOp op, StringRef view, ArrayRef<Value> originals) {
  std::optional<unsigned> number = operandNumberOf(op, "self");
  if (!number || op.getNumResults() != 1) {
    op.emitError("'") << op.getTarget() << "' without a tensor to work on";
    return fail();
  }
  CarrierBuilder carrier(builder, op.getLoc(), view);
  for (NamedAttribute argument : op.getArgs())
    carrier.copy(op, argument.getName());
  AtenOp pure = carrier.create(op.getResultTypes());
  if (Attribute dropped = op->getAttr(attr::kDropped))
    pure->setAttr(attr::kDropped, dropped);
  aliases.addView(pure.getResult(0), {pure, "self", 0}, originals[*number]);
  // From here on the tensor itself is seen in its new form.
  aliases.addAlias(op.getResult(0), pure.getResult(0));
  aliases.addAlias(originals[*number], pure.getResult(0));
  writers.push_back(op);
}

void Functionaliser::visitStatistics(AtenOp op, ArrayRef<Value> originals) {
  StatisticsUpdate update = updateStatistics(builder, op);
  for (auto [old, pure] : llvm::zip_equal(op->getResults(), update.results))
    aliases.addAlias(old, pure);
  Value mean = originals[*operandNumberOf(op, "running_mean")],
        variance = originals[*operandNumberOf(op, "running_var")];
  if (failed(aliases.write(mean, update.mean, op)) || failed(aliases.write(variance, update.variance, op)))
    fail();
  writers.push_back(op);
}

AtenOp Functionaliser::createPure(AtenOp op, const pt2::OpSchema &schema, const PureForm &form) {
  CarrierBuilder carrier(builder, op.getLoc(), form.schema->qualifiedName());
  for (auto [i, argument] : llvm::enumerate(form.schema->arguments)) {
    if (op.getArgs().get(argument.name))
      carrier.copy(op, argument.name);
    else if (i == 0)
      carrier.arg(argument.name, operandOf(op, schema.arguments.front().name));
  }
  SmallVector<Type> types;
  for (const std::string &name : form.written) {
    auto type = cast<RankedTensorType>(operandOf(op, name).getType());
    types.push_back(RankedTensorType::get(type.getShape(), pureElementType(op, type)));
  }
  return carrier.create(types);
}

static std::vector<std::string> writtenArguments(const pt2::OpSchema &schema) {
  std::vector<std::string> names;
  for (const pt2::SchemaArgument &argument : schema.arguments)
    if (argument.alias && argument.alias->isWrite)
      names.push_back(argument.name);
  return names;
}

/// Content can be written, but a tensor's memory or size cannot be exchanged.
static bool canKeepWrite(AtenOp op) { return op.getGraphs().empty() && !replacesMemory(op.getTarget()); }

/// Nobody else sees the memory: the tensor is no view, and none of the caller's or the model's.
bool Functionaliser::canResize(AtenOp op, ArrayRef<Value> originals) {
  StringRef name = TargetName(op.getTarget()).name;
  std::optional<unsigned> number = operandNumberOf(op, "self");
  return (name == "aten::resize_" || name == "aten::resize_as_") && number && op.getNumResults() == 1 &&
         originals[*number].getDefiningOp<AtenOp>() && aliases.isBase(originals[*number]);
}

/// From here on the tensor is another one: what PyTorch makes of a copy.
void Functionaliser::visitResize(AtenOp op, ArrayRef<Value> originals) {
  auto writer =
      builder.create<AtenOp>(op.getLoc(), op.getResultTypes(), op.getTarget(), op.getValues(), op.getArgs(), 0);
  writer->setAttr(attr::kReturns, builder.getArrayAttr({builder.getUnitAttr()}));
  writer->setAttr(attr::kWrites, builder.getStrArrayAttr({"self"}));
  aliases.addAlias(op.getResult(0), writer.getResult(0));
  aliases.addAlias(originals[*operandNumberOf(op, "self")], writer.getResult(0));
  writers.push_back(op);
}

/// The matrix whose diagonal is filled; null if there is none, or it is filled again below.
static Value matrixToFill(AtenOp op) {
  Value matrix = TargetName(op.getTarget()).name == "aten::fill_diagonal_" ? operandOf(op, "self") : Value();
  auto type = matrix ? dyn_cast<RankedTensorType>(matrix.getType()) : RankedTensorType();
  return type && type.getRank() == 2 && booleanOf(op, "wrap") == false && op.getNumResults() == 1 ? matrix : Value();
}

void Functionaliser::visitFillDiagonal(AtenOp op, Value matrix, Value original) {
  auto type = cast<RankedTensorType>(matrix.getType());
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  int64_t length = type.hasStaticShape() ? std::min(rows, columns) : ShapedType::kDynamic;
  auto lineType = RankedTensorType::get({length}, type.getElementType());
  Value line = CarrierBuilder(builder, op.getLoc(), "aten::diagonal").arg("self", matrix).value(lineType);
  aliases.addView(line, {line.getDefiningOp<AtenOp>(), "self", 0}, original);
  Value filled =
      CarrierBuilder(builder, op.getLoc(), "aten::full_like").arg("self", line).copy(op, "fill_value").value(lineType);
  if (failed(aliases.write(line, filled, op)))
    fail();
  aliases.addAlias(op.getResult(0), original);
  writers.push_back(op);
}

void Functionaliser::visitWrite(AtenOp op, const pt2::OpSchema &schema, ArrayRef<Value> originals) {
  if (Value matrix = matrixToFill(op))
    return visitFillDiagonal(op, matrix, originals[*operandNumberOf(op, "self")]);
  std::optional<PureForm> form = pureForm(op, schema);
  bool present = form && llvm::all_of(form->written, [&](const std::string &name) {
                   Value value = operandOf(op, name);
                   return value && isa<RankedTensorType>(value.getType());
                 });
  if (!present && allowsFallback(op) && canKeepWrite(op))
    return keepWrite(op, schema, writtenArguments(schema), originals);
  if (!present && allowsFallback(op) && canResize(op, originals))
    return visitResize(op, originals);
  if (!present) {
    op.emitError("'") << op.getTarget() << "' writes to its operands and is not supported; "
                      << "use the form that returns a new tensor, or convert with fallback";
    return fail();
  }
  AtenOp pure = createPure(op, schema, *form);
  for (auto [i, name] : llvm::enumerate(form->written)) {
    Value content = pure.getResult(i), original = originals[*operandNumberOf(op, name)];
    Type wanted = operandOf(op, name).getType();
    if (content.getType() != wanted)
      content = CarrierBuilder(builder, op.getLoc(), "aten::_to_copy")
                    .arg("self", content)
                    .arg("dtype", TypeAttr::get(cast<RankedTensorType>(wanted).getElementType()))
                    .value(wanted);
    if (failed(aliases.write(original, content, op)))
      fail();
    if (i < op.getNumResults())
      aliases.addAlias(op.getResult(i), original);
  }
  if (op.getNumResults() > form->written.size()) {
    op.emitError("'") << op.getTarget() << "' gives more than what it writes, which is not supported";
    fail();
  }
  writers.push_back(op);
}

/// The operands that argument `name` is, which may be a list.
static SmallVector<unsigned> operandNumbersOf(AtenOp op, StringRef name) {
  SmallVector<unsigned> numbers;
  if (Attribute argument = op.getArgs().get(name))
    argument.walk([&](ValueRefAttr reference) { numbers.push_back(reference.getIndex()); });
  return numbers;
}

/// The written argument that return number `index` is; null if it is none.
static const pt2::SchemaArgument *writtenReturn(const pt2::OpSchema &schema, size_t index) {
  if (index >= schema.returns.size() || !schema.returns[index].type.isTensor())
    return nullptr;
  for (const pt2::SchemaArgument &argument : schema.arguments)
    if (argument.type.isTensor() && argument.alias && argument.alias->isWrite &&
        shareASet(argument.alias, schema.returns[index].alias))
      return &argument;
  return nullptr;
}

/// PyTorch runs the node on copies; the new content of what it writes follows its own results.
void Functionaliser::keepWrite(AtenOp op, const pt2::OpSchema &schema, ArrayRef<std::string> written,
                               ArrayRef<Value> originals) {
  SmallVector<Type> types;
  SmallVector<Attribute> layout;
  SmallVector<Value> kept;
  auto keep = [&](Value value) {
    kept.push_back(value);
    types.push_back(value.getType());
    return builder.getI64IntegerAttr(static_cast<int64_t>(kept.size()) - 1);
  };
  auto returns = op->getAttrOfType<ArrayAttr>(attr::kReturns);
  for (auto [i, value] : llvm::enumerate(op.getResults())) {
    const pt2::SchemaArgument *argument = returns ? nullptr : writtenReturn(schema, i);
    std::optional<unsigned> number = argument ? operandNumberOf(op, argument->name) : std::nullopt;
    if (number)
      aliases.addAlias(value, originals[*number]);
    layout.push_back(number ? Attribute(builder.getUnitAttr()) : Attribute(keep(value)));
  }
  SmallVector<unsigned> numbers;
  SmallVector<Attribute> names;
  for (const std::string &name : written) {
    if (operandNumbersOf(op, name).empty())
      continue;
    llvm::append_range(numbers, operandNumbersOf(op, name));
    names.push_back(builder.getStringAttr(name));
  }
  for (unsigned number : numbers)
    types.push_back(op.getValues()[number].getType());
  auto writer = builder.create<AtenOp>(op.getLoc(), types, op.getTarget(), op.getValues(), op.getArgs(), 0);
  // A single list of results needs no layout, and lists are only described by the importer's own.
  if (returns)
    writer->setAttr(attr::kReturns, returns);
  else if (kept.size() != op.getNumResults())
    writer->setAttr(attr::kReturns, builder.getArrayAttr(layout));
  writer->setAttr(attr::kWrites, builder.getArrayAttr(names));
  for (auto [i, value] : llvm::enumerate(kept))
    aliases.addAlias(value, writer.getResult(i));
  for (auto [i, number] : llvm::enumerate(numbers))
    if (failed(aliases.write(originals[number], writer.getResult(kept.size() + i), op)))
      fail();
  writers.push_back(op);
}

void Functionaliser::clean() {
  if (writers.empty())
    return;
  for (Operation *op : llvm::reverse(writers)) {
    exported.erase(op);
    op->erase();
  }
  // Views that were only written through, and what the walk made but nobody read.
  auto isView = [](AtenOp op) {
    const pt2::OpSchema *schema = pt2::findSchema(std::string_view(op.getTarget()));
    return schema && llvm::any_of(schema->returns, [](const auto &returned) { return returned.alias.has_value(); });
  };
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    auto carrier = dyn_cast<AtenOp>(op);
    if (carrier && op.use_empty() && (!exported.contains(&op) || isView(carrier)))
      op.erase();
  }
}

StringRef stringAttr(DictionaryAttr attributes, StringRef name) {
  auto value = attributes ? attributes.getAs<StringAttr>(name) : StringAttr();
  return value ? value.getValue() : StringRef();
}

struct FunctionalisePass : PassWrapper<FunctionalisePass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FunctionalisePass)

  StringRef getArgument() const override { return "functionalise"; }
  StringRef getDescription() const override { return "makes programs with in-place nodes pure"; }

  void runOnOperation() override;

private:
  void addMutatedInputs(Functionaliser &walk);
  void addStates(Functionaliser &walk);
  void addConditions(const Functionaliser &walk);
  void addResult(unsigned index, Value value, StringRef attribute, StringRef name);
};

void FunctionalisePass::addResult(unsigned index, Value value, StringRef attribute, StringRef name) {
  func::FuncOp func = getOperation();
  Builder builder(func.getContext());
  NamedAttrList attributes;
  attributes.set(attribute, builder.getStringAttr(name));
  if (attribute == attr::kMutates)
    attributes.set(attr::kName, builder.getStringAttr(name));
  func.insertResult(index, value.getType(), attributes.getDictionary(func.getContext()));
  func.getBody().front().getTerminator()->insertOperands(index, value);
}

/// Inputs that the program changes are results after the user's own, before the states.
void FunctionalisePass::addMutatedInputs(Functionaliser &walk) {
  func::FuncOp func = getOperation();
  unsigned index = 0;
  while (index < func.getNumResults() && stringAttr(func.getResultAttrDict(index), attr::kState).empty())
    ++index;
  for (BlockArgument argument : func.getArguments()) {
    if (walk.isReadLate(argument))
      func.setArgAttr(argument.getArgNumber(), attr::kReadLate, UnitAttr::get(func.getContext()));
    if (!walk.isWritten(argument))
      continue;
    DictionaryAttr attributes = func.getArgAttrDict(argument.getArgNumber());
    if (!stringAttr(attributes, attr::kState).empty()) {
      func.emitError("state '") << stringAttr(attributes, attr::kState) << "' is both returned and written in place";
      signalPassFailure();
      continue;
    }
    addResult(index++, walk.finalContent(argument), attr::kMutates, stringAttr(attributes, attr::kName));
  }
}

void FunctionalisePass::addStates(Functionaliser &walk) {
  func::FuncOp func = getOperation();
  Builder builder(func.getContext());
  for (auto weight : llvm::make_early_inc_range(func.getOps<WeightOp>())) {
    if (!walk.isWritten(weight))
      continue;
    addResult(func.getNumResults(), walk.finalContent(weight), attr::kState, weight.getKey());
    NamedAttrList attributes;
    for (const char *name : {attr::kName, attr::kState, attr::kInitial})
      attributes.set(name, weight.getKeyAttr());
    unsigned index = func.getNumArguments();
    func.insertArgument(index, weight.getType(), attributes.getDictionary(func.getContext()), weight.getLoc());
    weight.replaceAllUsesWith(Value(func.getArgument(index)));
    weight.erase();
  }
}

/// Calls with other sizes are refused: the program would have to be another one.
void FunctionalisePass::addConditions(const Functionaliser &walk) {
  if (walk.notOne().empty())
    return;
  Builder builder(&getContext());
  NamedAttrList symbols(getOperation()->getAttrOfType<DictionaryAttr>(attr::kSymbols));
  for (const std::string &size : walk.notOne()) // 1 for 1, and 0 for 0 and what is greater
    symbols.set("(2 // (" + size + " + 1)) % 2", builder.getI64ArrayAttr({0, 0}));
  getOperation()->setAttr(attr::kSymbols, symbols.getDictionary(&getContext()));
}

void FunctionalisePass::runOnOperation() {
  if (getOperation().isDeclaration())
    return;
  Functionaliser walk(getOperation().getBody().front());
  if (failed(walk.run()))
    return signalPassFailure();
  addMutatedInputs(walk);
  addStates(walk);
  addConditions(walk);
  walk.clean();
}

} // namespace

std::unique_ptr<Pass> createFunctionalisePass() { return std::make_unique<FunctionalisePass>(); }

} // namespace ingot
