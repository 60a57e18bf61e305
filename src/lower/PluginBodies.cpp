// Branches, loops and functions that a plugin builds: the functions for bodies behind ingot/plugin.h.
#include "dialect/ControlOps.h"
#include "dialect/Conventions.h"
#include "lower/Complaints.h"
#include "lower/FitType.h"
#include "lower/PluginBuilder.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::lower;

using Body = std::unique_ptr<Region>;

Attribute lower::declarationOf(StringRef text, MLIRContext *context) {
  if (!text.starts_with("{"))
    return StringAttr::get(context, text);
  Complaints complaints(context);
  return dyn_cast_or_null<DictionaryAttr>(parseAttribute(text, context));
}

//===------------------------------------------------------------------------------------------===//
// Bodies
//===------------------------------------------------------------------------------------------===//

static int32_t beginBody(ingot_builder *b, const ingot_type *types, size_t count, ingot_value *arguments) {
  auto region = std::make_unique<Region>();
  Block &block = region->emplaceBlock();
  for (size_t i = 0; i < count; ++i) {
    Type type = toType(types[i], b->builder.getContext());
    if (!type)
      return b->fail("argument number " + std::to_string(i) + " of a body has a type that no value has");
    arguments[i] = toHandle(block.addArgument(type, b->loc));
  }
  b->open.push_back({std::move(region), b->builder.saveInsertionPoint(), b->builder.getListener()});
  // Whoever takes back what was built takes back the op that gets the body.
  b->builder.setListener(nullptr);
  b->builder.setInsertionPointToEnd(&block);
  return INGOT_PLUGIN_OK;
}

static Body leaveBody(ingot_builder *b) {
  ingot_builder::OpenBody last = std::move(b->open.back());
  b->open.pop_back();
  b->builder.restoreInsertionPoint(last.around);
  b->builder.setListener(last.listener);
  return std::move(last.region);
}

static void dropBody(ingot_builder *b) {
  if (!b->open.empty())
    leaveBody(b);
}

static ingot_body endBody(ingot_builder *b, const ingot_value *results, size_t count) {
  SmallVector<Value> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(toValue(results[i]));
  const bool hasNone = llvm::is_contained(values, Value());
  if (b->open.empty() || hasNone) {
    b->fail(hasNone ? "a result of a body is no value" : "no body has begun");
    dropBody(b);
    return nullptr;
  }
  b->builder.create<YieldOp>(b->loc, values);
  b->bodies.push_back(leaveBody(b));
  return reinterpret_cast<ingot_body>(b->bodies.back().get());
}

/// The body that the handle is; null after failing where it is none, or was used.
static Body takeBody(ingot_builder *b, ingot_body handle) {
  auto found =
      llvm::find_if(b->bodies, [&](const Body &body) { return reinterpret_cast<ingot_body>(body.get()) == handle; });
  if (found == b->bodies.end()) {
    b->fail("a body is used once, and only after it has ended");
    return nullptr;
  }
  Body taken = std::move(*found);
  b->bodies.erase(found);
  return taken;
}

static YieldOp yieldOf(Region &body) { return cast<YieldOp>(body.front().getTerminator()); }

/// Whether the region is the body or in it. (Region::isAncestor cannot pass regions that no op has yet.)
static bool isInside(Region &body, Region *region) {
  while (region && region != &body) {
    Operation *op = region->getParentOp();
    region = op ? op->getParentRegion() : nullptr;
  }
  return region != nullptr;
}

/// Values that the body uses and that are made around it.
static void collectOutside(Region &body, llvm::SetVector<Value> &outside) {
  body.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!isInside(body, operand.getParentRegion()))
        outside.insert(operand);
  });
}

/// Bodies of the dialect take everything they use as arguments.
static void passOutside(Region &body, ArrayRef<Value> outside, Location loc) {
  for (Value value : outside) {
    Value argument = body.front().addArgument(value.getType(), loc);
    value.replaceUsesWithIf(argument,
                            [&](OpOperand &use) { return isInside(body, use.getOwner()->getParentRegion()); });
  }
}

/// Inserts an op that is whole now, and writes its results.
static int32_t finish(ingot_builder *b, Operation *op, ingot_value *results, size_t capacity, size_t *count) {
  Complaints complaints(b->builder.getContext());
  if (failed(verify(op))) {
    std::string name = op->getName().getStringRef().str();
    op->destroy();
    return b->fail(complaints.text.empty() ? name + " is not valid" : complaints.text);
  }
  b->builder.insert(op);
  for (auto [i, value] : llvm::enumerate(op->getResults()))
    if (i < capacity)
      results[i] = toHandle(value);
  if (count)
    *count = op->getNumResults();
  return INGOT_PLUGIN_OK;
}

//===------------------------------------------------------------------------------------------===//
// Branches and loops
//===------------------------------------------------------------------------------------------===//

static int32_t createIf(ingot_builder *b, ingot_value condition, ingot_body thenHandle, ingot_body otherwiseHandle,
                        ingot_value *results, size_t capacity, size_t *count) {
  Body then = takeBody(b, thenHandle), otherwise = takeBody(b, otherwiseHandle);
  if (!then || !otherwise)
    return INGOT_PLUGIN_FAILED;
  if (!condition || then->front().getNumArguments() || otherwise->front().getNumArguments())
    return b->fail("a branch needs a condition, and bodies without arguments");
  llvm::SetVector<Value> outside;
  collectOutside(*then, outside);
  collectOutside(*otherwise, outside);
  OperationState state(b->loc, IfOp::getOperationName());
  state.addOperands(toValue(condition));
  for (Body *body : {&then, &otherwise}) {
    passOutside(**body, outside.getArrayRef(), b->loc);
    state.addRegion(std::move(*body));
  }
  state.addOperands(outside.getArrayRef());
  state.addTypes(yieldOf(*state.regions.front()).getOperandTypes());
  return finish(b, Operation::create(state), results, capacity, count);
}

static int32_t createWhile(ingot_builder *b, ingot_body testHandle, ingot_body bodyHandle, const ingot_value *carried,
                           size_t count, ingot_value *results) {
  Body test = takeBody(b, testHandle), body = takeBody(b, bodyHandle);
  if (!test || !body)
    return INGOT_PLUGIN_FAILED;
  SmallVector<Value> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(toValue(carried[i]));
  if (llvm::is_contained(values, Value()))
    return b->fail("a carried value is no value");
  llvm::SetVector<Value> outside;
  collectOutside(*test, outside);
  collectOutside(*body, outside);
  OperationState state(b->loc, WhileOp::getOperationName());
  for (Body *part : {&test, &body}) {
    passOutside(**part, outside.getArrayRef(), b->loc);
    state.addRegion(std::move(*part));
  }
  state.addOperands(values);
  state.addOperands(outside.getArrayRef());
  state.addTypes(ValueRange(values).getTypes());
  const int32_t groups[] = {static_cast<int32_t>(count), static_cast<int32_t>(outside.size())};
  state.addAttribute("operandSegmentSizes", DenseI32ArrayAttr::get(b->builder.getContext(), groups));
  return finish(b, Operation::create(state), results, count, nullptr);
}

//===------------------------------------------------------------------------------------------===//
// Functions
//===------------------------------------------------------------------------------------------===//

static ModuleOp moduleOf(ingot_builder *b) {
  auto module = b->node ? b->node->getParentOfType<ModuleOp>() : ModuleOp();
  if (!module)
    b->fail("functions are made inside lowerings; a module written by hand has graphs");
  return module;
}

static const char *defineFunction(ingot_builder *b, const char *name, const char *declaration, ingot_body handle) {
  ModuleOp module = moduleOf(b);
  Body body = takeBody(b, handle);
  if (!module || !body)
    return nullptr;
  llvm::SetVector<Value> outside;
  collectOutside(*body, outside);
  if (!outside.empty()) {
    b->fail("the function '" + std::string(name) + "' uses values from around it; pass them as operands");
    return nullptr;
  }
  MLIRContext *context = b->builder.getContext();
  YieldOp yield = yieldOf(*body);
  auto type = FunctionType::get(context, body->front().getArgumentTypes(), yield.getOperandTypes());
  auto func = func::FuncOp::create(b->loc, name, type);
  func.setPrivate();
  if (declaration && *declaration) {
    Attribute parsed = declarationOf(declaration, context);
    if (!parsed) {
      func.erase();
      b->fail("the declaration of '" + std::string(name) + "' does not parse");
      return nullptr;
    }
    func->setAttr(attr::kCompositeDecl, parsed);
  }
  func.getBody().takeBody(*body);
  OpBuilder(yield).create<func::ReturnOp>(b->loc, yield.getValues());
  yield.erase();
  return b->keep(SymbolTable(module).insert(func).str());
}

static int32_t callFunction(ingot_builder *b, const char *name, const ingot_value *operands, size_t operandCount,
                            ingot_value *results, size_t capacity, size_t *count) {
  ModuleOp module = moduleOf(b);
  if (!module)
    return INGOT_PLUGIN_FAILED;
  auto func = module.lookupSymbol<func::FuncOp>(name);
  if (!func || func.getNumArguments() != operandCount)
    return b->fail("there is no function '" + std::string(name) + "' that takes " + std::to_string(operandCount) +
                   " values");
  Emitter emit(b->builder, b->loc);
  SmallVector<Value> values;
  for (size_t i = 0; i < operandCount; ++i) {
    const std::string place = "operand " + std::to_string(i) + " of '" + name + "'";
    Result<Value> fitting = fitExactly(emit, toValue(operands[i]), func.getArgumentTypes()[i], place);
    if (!fitting)
      return b->fail(fitting.error().str());
    values.push_back(*fitting);
  }
  OperationState state(b->loc, func::CallOp::getOperationName());
  state.addOperands(values);
  state.addTypes(func.getResultTypes());
  state.addAttribute("callee", FlatSymbolRefAttr::get(func));
  return finish(b, Operation::create(state), results, capacity, count);
}

void lower::addBodyFunctions(ingot_builder_api &api) {
  api.begin_body = beginBody;
  api.end_body = endBody;
  api.drop_body = dropBody;
  api.create_if = createIf;
  api.create_while = createWhile;
  api.define_function = defineFunction;
  api.call_function = callFunction;
}
