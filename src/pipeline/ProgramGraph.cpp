#include "pipeline/ProgramGraph.h"

#include "dialect/Conventions.h"
#include "dialect/Ops.h"
#include "dialect/Types.h"
#include "graph/Text.h"
#include "import/Location.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/xxhash.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>

#include <set>

using namespace mlir;

namespace ingot {
namespace {

bool isIdentifierCharacter(char c) { return llvm::isAlnum(c) || c == '_'; }

/// Functions that call each other deeper than this are not unfolded.
constexpr size_t maxCallDepth = 16;
constexpr int64_t maxShownElements = 8;

std::string printed(auto value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  value.print(stream);
  return text;
}

std::vector<graph::Size> sizesOf(Type type, ArrayAttr dims = {}) {
  std::vector<graph::Size> sizes;
  auto shaped = dyn_cast<RankedTensorType>(type);
  for (int64_t i = 0; shaped && i < shaped.getRank(); ++i) {
    auto text = dims && i < static_cast<int64_t>(dims.size()) ? dyn_cast<StringAttr>(dims[i]) : StringAttr();
    if (!shaped.isDynamicDim(i))
      sizes.emplace_back(shaped.getDimSize(i));
    else
      sizes.emplace_back(text ? text.str() : "?");
  }
  return sizes;
}

std::string dtypeText(Type type) {
  std::optional<DType> dtype = dtypeOfType(getElementTypeOrSelf(type));
  return dtype ? std::string(dtypeName(*dtype)) : printed(getElementTypeOrSelf(type));
}

graph::Json attributeJson(Attribute attribute) {
  if (auto boolean = dyn_cast<BoolAttr>(attribute))
    return boolean.getValue();
  if (auto integer = dyn_cast<IntegerAttr>(attribute); integer && integer.getValue().getSignificantBits() <= 64)
    return integer.getValue().getSExtValue();
  if (auto number = dyn_cast<FloatAttr>(attribute); number && number.getValue().isFinite())
    return number.getValueAsDouble();
  if (auto text = dyn_cast<StringAttr>(attribute))
    return text.str();
  if (auto list = dyn_cast<DenseI64ArrayAttr>(attribute))
    return std::vector<int64_t>(list.asArrayRef());
  if (auto list = dyn_cast<ArrayAttr>(attribute)) {
    graph::Json values = graph::Json::array();
    for (Attribute element : list)
      values.push_back(attributeJson(element));
    return values;
  }
  return printed(attribute);
}

/// "aten.add.Tensor" of aten::add.Tensor
std::string documentName(StringRef target) {
  auto [space, name] = target.split("::");
  return name.empty() ? space.str() : (space + "." + name).str();
}

/// "1.0 float32[]": equal constants have equal names, in all programs.
std::string constantName(ElementsAttr value) {
  auto dense = dyn_cast<DenseElementsAttr>(value);
  std::string type = dtypeText(value.getType()) + "[" + graph::shapeText(sizesOf(value.getType()), ",") + "]";
  if (dense && dense.isSplat() && isa<FloatType>(dense.getElementType())) {
    llvm::SmallString<32> text;
    dense.getSplatValue<llvm::APFloat>().toString(text); // every digit that tells it from its neighbours
    return (text + " " + type).str();
  }
  if (dense && (dense.isSplat() || dense.getNumElements() <= maxShownElements)) {
    std::string text = printed(Attribute(dense)), body = text.substr(0, text.rfind(" : "));
    if (body.starts_with("dense<") && body.ends_with(">"))
      body = body.substr(6, body.size() - 7);
    return body + " " + type;
  }
  uint64_t hash = dense ? llvm::xxh3_64bits(ArrayRef(reinterpret_cast<const uint8_t *>(dense.getRawData().data()),
                                                     dense.getRawData().size()))
                        : 0;
  return "constant " + llvm::utohexstr(hash, true) + " " + type;
}

class GraphBuilder {
public:
  explicit GraphBuilder(ModuleOp module) : module(module) {}

  graph::Document build();

private:
  /// Names of the values of one body.
  struct Names {
    llvm::DenseMap<Value, std::pair<std::string, int64_t>> producers; ///< the node, and which of its results
    llvm::DenseMap<Value, std::string> values;
    graph::UniqueNames used;
    std::string prefix; ///< of an entry point among several
    size_t depth = 0;
  };

  void addEntry(func::FuncOp function, const std::string &prefix);
  graph::Body bodyOf(Block &block, size_t depth);
  void addOps(Block &block, Names &names, graph::Body &body);
  graph::Node nodeOf(Operation &op, Names &names, graph::Body &body);
  void addBodies(Operation &op, Names &names, graph::Node &node, graph::Body &body);
  void addWeight(Value value, std::string key, std::string kind, Names &names);
  graph::Tensor use(Value value, const Names &names);
  std::string argumentName(func::FuncOp function, unsigned index);

  ModuleOp module;
  graph::Document document;
  std::set<std::string> weightKeys;
};

graph::Document GraphBuilder::build() {
  std::vector<func::FuncOp> entries;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal() && !function->hasAttr(attr::kBodyOf))
      entries.push_back(function);
  for (func::FuncOp function : entries)
    addEntry(function, entries.size() > 1 ? function.getName().str() : "");
  return std::move(document);
}

void GraphBuilder::addEntry(func::FuncOp function, const std::string &prefix) {
  Names names;
  names.prefix = prefix;
  auto called = [&](const std::string &name) { return prefix.empty() ? name : prefix + "." + name; };
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    auto initial = function.getArgAttrOfType<StringAttr>(index, attr::kInitial);
    std::string name = called(argumentName(function, index));
    if (initial) {
      addWeight(argument, initial.str(), "buffer", names);
      continue;
    }
    names.values[argument] = name;
    names.producers[argument] = {name, 0};
    graph::Tensor input;
    input.name = name;
    input.shape = sizesOf(argument.getType(), function.getArgAttrOfType<ArrayAttr>(index, attr::kDims));
    input.dtype = dtypeText(argument.getType());
    document.graph.inputs.push_back(std::move(input));
  }
  addOps(function.front(), names, document.graph);
  for (OpOperand &operand : function.front().getTerminator()->getOpOperands()) {
    graph::Tensor output = use(operand.get(), names);
    output.shape = sizesOf(operand.get().getType(),
                           function.getResultAttrOfType<ArrayAttr>(operand.getOperandNumber(), attr::kDims));
    document.graph.outputs.push_back(std::move(output));
  }
  // Expressions have ranges as well, where the export has decided by them.
  auto isSymbol = [](NamedAttribute entry) { return llvm::all_of(entry.getName().getValue(), isIdentifierCharacter); };
  if (auto symbols = function->getAttrOfType<DictionaryAttr>(attr::kSymbols))
    for (NamedAttribute symbol : llvm::make_filter_range(symbols, isSymbol))
      if (auto range = dyn_cast<ArrayAttr>(symbol.getValue()); range && range.size() == 2)
        if (auto min = dyn_cast<IntegerAttr>(range[0]), max = dyn_cast<IntegerAttr>(range[1]); min && max)
          document.symbols[symbol.getName().str()] = {min.getInt(), max.getInt(), {}, {}};
}

std::string GraphBuilder::argumentName(func::FuncOp function, unsigned index) {
  for (const char *attribute : {attr::kName, attr::kState})
    if (auto name = function.getArgAttrOfType<StringAttr>(index, attribute))
      return name.str();
  return "arg" + std::to_string(index);
}

void GraphBuilder::addWeight(Value value, std::string key, std::string kind, Names &names) {
  // In the graph a weight is called by its key: documents have a name for both.
  names.values[value] = key;
  if (!weightKeys.insert(key).second)
    return;
  graph::Weight weight;
  weight.name = key;
  weight.shape = sizesOf(value.getType());
  weight.dtype = dtypeText(value.getType());
  weight.kind = std::move(kind);
  document.weights.push_back(std::move(weight));
  document.weightNames.emplace_back(key, key);
}

graph::Body GraphBuilder::bodyOf(Block &block, size_t depth) {
  graph::Body body;
  Names names;
  names.depth = depth;
  for (BlockArgument argument : block.getArguments()) {
    std::string name = names.used.make("arg" + std::to_string(argument.getArgNumber()));
    names.values[argument] = name;
    names.producers[argument] = {name, 0};
    graph::Tensor input;
    input.name = name;
    input.shape = sizesOf(argument.getType());
    input.dtype = dtypeText(argument.getType());
    body.inputs.push_back(std::move(input));
  }
  addOps(block, names, body);
  if (block.mightHaveTerminator())
    for (Value result : block.getTerminator()->getOperands())
      body.outputs.push_back(use(result, names));
  return body;
}

/// The importer calls weights as PyTorch's exporter does, by their kind.
const char *kindOf(Operation &op) {
  std::string name = sourceInfo(op.getLoc()).node;
  return name.starts_with("b_") ? "buffer" : name.starts_with("c_") ? "constant" : "parameter";
}

void GraphBuilder::addOps(Block &block, Names &names, graph::Body &body) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue;
    if (auto weight = dyn_cast<WeightOp>(op))
      addWeight(weight.getResult(), weight.getKey().str(), kindOf(op), names);
    else if (auto constant = dyn_cast<ConstantOp>(op))
      addWeight(constant.getResult(), constantName(constant.getValue()), "constant", names);
    else
      body.nodes.push_back(nodeOf(op, names, body));
  }
}

graph::Tensor GraphBuilder::use(Value value, const Names &names) {
  graph::Tensor tensor;
  tensor.name = names.values.lookup(value);
  tensor.shape = sizesOf(value.getType());
  tensor.dtype = dtypeText(value.getType());
  if (auto found = names.producers.find(value); found != names.producers.end()) {
    tensor.producerNode = found->second.first;
    tensor.producerIndex = found->second.second;
  }
  return tensor;
}

graph::Node GraphBuilder::nodeOf(Operation &op, Names &names, graph::Body &body) {
  SourceInfo source = sourceInfo(op.getLoc());
  graph::Node node;
  std::string name = source.node.substr(0, source.node.find(", "));
  if (name.empty())
    name = op.getName().stripDialect().str();
  node.name = names.used.make(names.prefix.empty() ? name : names.prefix + "." + name);
  node.opType = op.getName().getStringRef().str();
  if (auto carrier = dyn_cast<AtenOp>(op))
    node.opType = documentName(carrier.getTarget());
  for (Value operand : op.getOperands())
    node.inputs.push_back(use(operand, names));
  for (NamedAttribute attribute : op.getAttrs())
    if (attribute.getName() != "operandSegmentSizes")
      node.attrs[attribute.getName().str()] = attributeJson(attribute.getValue());
  for (OpResult result : op.getResults()) {
    std::string made = node.name + (op.getNumResults() == 1 ? "" : "_" + std::to_string(result.getResultNumber()));
    names.values[result] = made;
    names.producers[result] = {node.name, result.getResultNumber()};
    graph::Tensor output;
    output.name = made;
    output.shape = sizesOf(result.getType());
    output.dtype = dtypeText(result.getType());
    node.outputs.push_back(std::move(output));
  }
  node.module = names.prefix + (names.prefix.empty() || source.modulePath.empty() ? "" : ".") + source.modulePath;
  if (!source.file.empty())
    node.source = graph::Source{source.file, source.line, "", ""};
  addBodies(op, names, node, body);
  return node;
}

void GraphBuilder::addBodies(Operation &op, Names &names, graph::Node &node, graph::Body &body) {
  std::vector<std::pair<std::string, Block *>> blocks;
  for (Region &region : op.getRegions())
    if (!region.empty())
      blocks.emplace_back("body" + std::to_string(region.getRegionNumber()), &region.front());
  if (auto call = dyn_cast<func::CallOp>(op))
    if (auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee()); callee && !callee.isExternal())
      blocks.emplace_back(call.getCallee().str(), &callee.front());
  if (blocks.empty() || names.depth >= maxCallDepth)
    return;
  node.args.emplace();
  for (auto item = node.attrs.begin(); item != node.attrs.end(); ++item)
    node.args->push_back({item.key(), "value", *item, false});
  for (auto &[role, block] : blocks) {
    std::string name = node.name + "." + role;
    body.subgraphs.emplace(name, bodyOf(*block, names.depth + 1));
    node.args->push_back({role, "graph", name, false});
  }
}

} // namespace

graph::Document programGraph(ModuleOp module) { return GraphBuilder(module).build(); }

} // namespace ingot
