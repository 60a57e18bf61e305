#include "compiler/Author.h"

#include "compiler/Guarded.h"
#include "compiler/Programs.h"
#include "dialect/Conventions.h"
#include "lower/FitType.h"
#include "lower/PluginBuilder.h"
#include "pipeline/Authored.h"
#include "pipeline/Diagnostics.h"
#include "pipeline/Modules.h"

#include <list>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/IR/Verifier.h>

using namespace mlir;

namespace ingot {

namespace {

/// A function whose body is being written.
struct OpenGraph {
  OpenGraph(func::FuncOp func, OpBuilder builder)
      : func(func), builder(builder), handle(this->builder, func.getLoc()) {}

  func::FuncOp func;
  OpBuilder builder;
  ingot_builder handle;
};

} // namespace

struct AuthoredModule {
  AuthoredModule() : context(MLIRContext::Threading::DISABLED) {
    prepareContext(context);
    module = ModuleOp::create(UnknownLoc::get(&context));
  }

  OpenGraph *find(ingot_builder *builder) {
    auto it = llvm::find_if(open, [&](OpenGraph &graph) { return &graph.handle == builder; });
    return it == open.end() ? nullptr : &*it;
  }
  void forget(ingot_builder *builder) {
    open.remove_if([&](OpenGraph &graph) { return &graph.handle == builder; });
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::list<OpenGraph> open;
};

namespace {

using Ports = llvm::ArrayRef<AuthorPort>;

Result<SmallVector<Type>> typesOf(Ports ports, MLIRContext *context) {
  SmallVector<Type> types;
  for (const AuthorPort &port : ports) {
    types.push_back(lower::toType(port.type, context));
    if (!types.back())
      return usageError("'" + std::string(port.name) + "' has sizes or an element type that no tensor has");
  }
  return types;
}

Status checkNames(Ports ports, const char *what) {
  llvm::StringMap<bool> seen;
  for (const AuthorPort &port : ports)
    if (!port.name || !*port.name || !seen.try_emplace(port.name).second)
      return usageError(std::string("each ") + what + " needs a name of its own, and '" + (port.name ? port.name : "") +
                        "' is none");
  return {};
}

/// The attributes by which the rest of the compiler knows inputs and outputs, as the importer sets them.
void describePorts(func::FuncOp func, Ports inputs, Ports outputs) {
  Builder builder(func.getContext());
  NamedAttrList symbols;
  SmallVector<int64_t> argumentNumbers, resultNumbers;
  for (auto [i, port] : llvm::enumerate(inputs)) {
    func.setArgAttr(i, attr::kName, builder.getStringAttr(port.name));
    SmallVector<StringRef> dims;
    for (int64_t k = 0; port.dims && k < port.type.rank; ++k) {
      dims.push_back(port.dims[k]);
      if (port.type.sizes[k] == INGOT_DYNAMIC)
        symbols.set(port.dims[k], builder.getI64ArrayAttr({0, std::numeric_limits<int64_t>::max()}));
    }
    func.setArgAttr(i, attr::kDims, builder.getStrArrayAttr(dims));
    argumentNumbers.push_back(static_cast<int64_t>(i));
  }
  for (auto [i, port] : llvm::enumerate(outputs)) {
    func.setResultAttr(i, attr::kName, builder.getStringAttr(port.name));
    resultNumbers.push_back(static_cast<int64_t>(i));
  }
  func->setAttr(attr::kFlatInputs, builder.getI64ArrayAttr(argumentNumbers));
  func->setAttr(attr::kFlatOutputs, builder.getI64ArrayAttr(resultNumbers));
  func->setAttr(attr::kSymbols, symbols.getDictionary(func.getContext()));
}

Result<OpenGraph *> beginGraph(AuthoredModule &module, const AuthorGraph &graph) {
  Ports inputs(graph.inputs, graph.inputCount), outputs(graph.outputs, graph.outputCount);
  INGOT_CHECK(checkNames(inputs, "input"));
  INGOT_CHECK(checkNames(outputs, "output"));
  if (module.module->lookupSymbol(graph.name))
    return usageError("the module has a graph '" + std::string(graph.name) + "' already");
  INGOT_TRY(SmallVector<Type> arguments, typesOf(inputs, &module.context));
  INGOT_TRY(SmallVector<Type> results, typesOf(outputs, &module.context));
  OpBuilder builder(module.module->getBodyRegion());
  builder.setInsertionPointToEnd(module.module->getBody());
  Location loc = NameLoc::get(builder.getStringAttr(graph.name));
  auto func = builder.create<func::FuncOp>(loc, graph.name, builder.getFunctionType(arguments, results));
  if (graph.isPrivate)
    func.setPrivate();
  if (graph.noInline)
    func->setAttr(attr::kNoInline, builder.getUnitAttr());
  if (graph.compositeDecl && *graph.compositeDecl)
    func->setAttr(attr::kCompositeDecl, builder.getStringAttr(graph.compositeDecl));
  describePorts(func, inputs, outputs);
  builder.setInsertionPointToEnd(func.addEntryBlock());
  return &module.open.emplace_back(func, builder);
}

/// The value with exactly the declared type.
Result<Value> fitExactly(lower::Emitter &emit, Value value, Type declared, const std::string &place) {
  if (!value)
    return usageError(place + " is no value");
  std::string problem, given = lower::typeText(value.getType());
  Value fitting = lower::fitType(emit, value, declared, problem);
  if (!fitting)
    return usageError(place + ": " + problem + " (given " + given + ", declared " + lower::typeText(declared) + ")");
  if (fitting.getType() == declared)
    return fitting;
  return emit.reshapeTo(fitting, cast<RankedTensorType>(declared));
}

Status endGraph(AuthoredModule &module, ingot_builder *handle, ArrayRef<ingot_value> values) {
  OpenGraph *graph = module.find(handle);
  if (!graph)
    return usageError("the graph has ended already");
  FunctionType type = graph->func.getFunctionType();
  std::string name = graph->func.getName().str();
  if (values.size() != type.getNumResults())
    return usageError("'" + name + "' gives " + std::to_string(values.size()) + " results and declares " +
                      std::to_string(type.getNumResults()));
  lower::Emitter emit(graph->builder, graph->func.getLoc());
  SmallVector<Value> results;
  for (auto [i, value] : llvm::enumerate(values)) {
    std::string place = name + "[" + std::to_string(i) + "]";
    INGOT_TRY(Value fitting, fitExactly(emit, lower::toValue(value), type.getResult(i), place));
    results.push_back(fitting);
  }
  graph->builder.create<func::ReturnOp>(graph->func.getLoc(), results);
  module.forget(handle);
  return {};
}

void dropGraph(AuthoredModule &module, ingot_builder *handle) {
  if (OpenGraph *graph = module.find(handle)) {
    graph->func.erase();
    module.forget(handle);
  }
}

Status callGraph(AuthoredModule &module, ingot_builder *handle, const char *name, ArrayRef<ingot_value> operands,
                 ingot_value *results) {
  auto callee = module.module->lookupSymbol<func::FuncOp>(name);
  OpenGraph *graph = module.find(handle);
  if (!callee || !graph)
    return usageError("there is no graph '" + std::string(name) + "' that could be called here");
  FunctionType type = callee.getFunctionType();
  if (operands.size() != type.getNumInputs())
    return usageError("'" + std::string(name) + "' takes " + std::to_string(type.getNumInputs()) + " values, not " +
                      std::to_string(operands.size()));
  lower::Emitter emit(graph->builder, graph->func.getLoc());
  SmallVector<Value> values;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    std::string place = "operand " + std::to_string(i) + " of '" + name + "'";
    INGOT_TRY(Value fitting, fitExactly(emit, lower::toValue(operand), type.getInput(i), place));
    values.push_back(fitting);
  }
  auto call = graph->builder.create<func::CallOp>(graph->func.getLoc(), callee, values);
  for (auto [i, result] : llvm::enumerate(call.getResults()))
    results[i] = lower::toHandle(result);
  return {};
}

Status verifyModule(AuthoredModule &module) {
  if (!module.open.empty())
    return usageError("the graph '" + module.open.back().func.getName().str() + "' has not ended");
  DiagnosticCollector diagnostics(module.context);
  if (failed(verify(*module.module)))
    return diagnostics.error(ErrorKind::Usage, "the module is not valid");
  return {};
}

Status convertModule(AuthoredModule &module, CompilerProgram **program) {
  INGOT_CHECK(verifyModule(module));
  INGOT_TRY(Converted converted, convertAuthored(*module.module, {}));
  *program = makeProgram(std::move(converted));
  return {};
}

char *copyBytes(const std::string &text) {
  auto *copy = static_cast<char *>(std::malloc(text.size() + 1));
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

char *printModule(AuthoredModule *module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->module->print(stream);
  return copyBytes(text);
}

char *writeBytes(AuthoredModule *module, size_t *bytes, CompilerError *error) {
  std::string made;
  bool isWritten = guarded(error, [&]() -> Status {
    INGOT_CHECK(verifyModule(*module));
    INGOT_TRY(made, moduleBytecode(*module->module));
    return {};
  });
  if (!isWritten)
    return nullptr;
  *bytes = made.size();
  return copyBytes(made);
}

} // namespace

const AuthorApi &authorApi() {
  static const AuthorApi api = {
      .builder = &lower::builderApi(),
      .create = [] { return new AuthoredModule; },
      .free = [](AuthoredModule *module) { delete module; },
      .beginGraph = [](AuthoredModule *module, const AuthorGraph *graph, CompilerError *error) -> ingot_builder * {
        Result<OpenGraph *> made = beginGraph(*module, *graph);
        if (made)
          return &(*made)->handle;
        report(error, made.error());
        return nullptr;
      },
      .argument = [](ingot_builder *builder, size_t index) -> ingot_value {
        return lower::toHandle(builder->builder.getBlock()->getArgument(index));
      },
      .endGraph =
          [](AuthoredModule *module, ingot_builder *builder, const ingot_value *results, size_t count,
             CompilerError *error) {
            return guarded(error, [&] { return endGraph(*module, builder, {results, count}); });
          },
      .dropGraph = [](AuthoredModule *module, ingot_builder *builder) { dropGraph(*module, builder); },
      .call =
          [](AuthoredModule *module, ingot_builder *builder, const char *graph, const ingot_value *operands,
             size_t count, ingot_value *results, CompilerError *error) {
            return guarded(error, [&] { return callGraph(*module, builder, graph, {operands, count}, results); });
          },
      .verify = [](AuthoredModule *module,
                   CompilerError *error) { return guarded(error, [&] { return verifyModule(*module); }); },
      .print = printModule,
      .bytecode = writeBytes,
      .convert = [](AuthoredModule *module, CompilerProgram **program,
                    CompilerError *error) { return guarded(error, [&] { return convertModule(*module, program); }); },
  };
  return api;
}

} // namespace ingot
