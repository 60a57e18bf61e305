#include "import/GraphImporter.h"

#include "dialect/Conventions.h"
#include "dialect/Types.h"
#include "import/Location.h"
#include "import/Sharing.h"
#include "pt2/SourceLocation.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ingot {

using pt2::Argument;
using pt2::ArgumentKind;

static constexpr int kMaxDepth = 64;

std::string valueName(const Argument &argument) {
  switch (argument.kind) {
  case ArgumentKind::Tensor:
    return argument.asTensor();
  case ArgumentKind::OptionalTensor:
    return argument.asOptionalTensor().value_or("");
  case ArgumentKind::SymInt:
    return argument.asSymInt().isName() ? argument.asSymInt().name() : "";
  case ArgumentKind::SymFloat:
    return argument.asSymFloat().isName() ? argument.asSymFloat().name() : "";
  case ArgumentKind::SymBool:
    return argument.asSymBool().isName() ? argument.asSymBool().name() : "";
  default:
    return "";
  }
}

std::string carrierTarget(StringRef target) {
  if (std::optional<std::string> name = pt2::qualifiedNameOfTarget(target))
    return *name;
  if (target.consume_front("torch.ops.higher_order."))
    return "higher_order::" + target.str();
  // The last dot divides: "torch._functorch.predispatch._add_batch_dim" keeps its dotted module.
  auto [module, name] = target.rsplit('.');
  return name.empty() ? "python::" + module.str() : module.str() + "::" + name.str();
}

Result<Type> GraphImporter::typeOf(StringRef name) const {
  std::string_view key(name.data(), name.size());
  if (const pt2::TensorMeta *meta = graph.findTensor(key)) {
    if (meta->layout != pt2::Layout::Strided)
      return unsupportedError("value '" + name.str() + "' is a sparse tensor, which programs do not have")
          .note("make it dense with to_dense() before exporting");
    if (meta->sizes.size() > 64) // PyTorch's limit, and that of plans
      return corruptError("value '" + name.str() + "' has " + std::to_string(meta->sizes.size()) + " dimensions");
    SmallVector<int64_t> shape;
    for (const pt2::SymInt &size : meta->sizes) {
      if (size.isConcrete() && size.concrete() < 0)
        return corruptError("value '" + name.str() + "' has a negative size");
      shape.push_back(size.isConcrete() ? size.concrete() : ShapedType::kDynamic);
    }
    return Type(RankedTensorType::get(shape, typeOfDType(meta->dtype, builder.getContext())));
  }
  if (graph.symIntValues.contains(key))
    return Type(builder.getI64Type());
  if (graph.symFloatValues.contains(key))
    return Type(builder.getF64Type());
  if (graph.symBoolValues.contains(key))
    return Type(builder.getI1Type());
  if (graph.customObjValues.contains(key))
    return unsupportedError("value '" + name.str() + "' is a custom class object");
  return corruptError("value '" + name.str() + "' has no type in the file");
}

Status GraphImporter::define(StringRef name, Value value) {
  if (!scope.try_emplace(name, value).second)
    return corruptError("value '" + name.str() + "' is defined twice");
  return {};
}

Result<Value> GraphImporter::lookup(StringRef name) const {
  auto it = scope.find(name);
  if (it == scope.end())
    return corruptError("value '" + name.str() + "' does not exist");
  return it->second;
}

static SourceInfo sourceOf(const pt2::Node &node) {
  pt2::SourceLocation source = pt2::locate(node.metadata);
  SourceInfo info{.node = node.name, .file = "", .line = 0, .modulePath = source.modulePath};
  if (source.frame) {
    info.file = source.frame->file;
    info.line = source.frame->line;
  }
  return info;
}

Status GraphImporter::importNodes() {
  for (const pt2::Node &node : graph.nodes)
    if (Status status = importNode(node); !status) {
      SourceInfo source = sourceOf(node);
      if (source.node.empty())
        source.node = node.target;
      return std::move(status.error()).note("at " + source.str() + ", " + node.target);
    }
  return {};
}

Result<DictionaryAttr> GraphImporter::convertArguments(const pt2::Node &node, const pt2::OpSchema *schema,
                                                       ArgumentConverter &converter) {
  NamedAttrList args;
  auto add = [&](const std::string &name, const Argument &argument) -> Status {
    INGOT_TRY(Attribute attribute, converter.convert(argument));
    if (args.set(name, attribute))
      return corruptError("argument '" + name + "' is given twice");
    return {};
  };
  // Operands of higher-order operators have no names; their positions are what tells them apart.
  for (const auto &[position, input] : llvm::enumerate(node.inputs)) {
    const pt2::SchemaArgument *declared = schema ? schema->findArgument(input.name) : nullptr;
    std::string name = input.name.empty() ? "arg" + std::to_string(position) : input.name;
    INGOT_CHECK(add(name, declared ? coerce(input.value, declared->type) : input.value));
  }
  if (schema)
    for (const pt2::SchemaArgument &argument : schema->arguments) {
      if (args.get(argument.name))
        continue;
      if (!argument.defaultValue)
        return corruptError("argument '" + argument.name + "' is missing");
      INGOT_CHECK(add(argument.name, *argument.defaultValue));
    }
  return args.getDictionary(builder.getContext());
}

/// The values that a node defines, and, when some of its outputs are None or lists, how they lie in the schema's
/// returns: a result number, a list of them, or unit.
struct NodeOutputs {
  std::vector<std::string> names;
  SmallVector<Attribute> layout;
  bool isPlain = true;
};

static Result<NodeOutputs> outputsOf(const pt2::Node &node, Builder &builder) {
  NodeOutputs outputs;
  auto addName = [&](const std::string &name) -> Attribute {
    outputs.names.push_back(name);
    return builder.getI64IntegerAttr(outputs.names.size() - 1);
  };
  for (const Argument &output : node.outputs) {
    if (output.is(ArgumentKind::Tensors)) {
      SmallVector<Attribute> items;
      for (const std::string &name : output.asTensors())
        items.push_back(addName(name));
      outputs.layout.push_back(builder.getArrayAttr(items));
      outputs.isPlain &= node.outputs.size() == 1;
    } else if (std::string name = valueName(output); !name.empty()) {
      outputs.layout.push_back(addName(name));
    } else if (output.is(ArgumentKind::CustomObj)) {
      return unsupportedError("the node gives a custom class object");
    } else {
      outputs.layout.push_back(builder.getUnitAttr());
      outputs.isPlain = false;
    }
  }
  return outputs;
}

/// as_strided looks at memory, which values do not have: keeps the exported strides of what it looks at.
static void recordStrides(AtenOp op, const pt2::Node &node, const pt2::Graph &graph) {
  const pt2::Argument *self = node.findInput("self");
  if (!self || self->kind != pt2::ArgumentKind::Tensor)
    return;
  const pt2::TensorMeta *meta = graph.findTensor(self->asTensor());
  if (!meta || !meta->storageOffset.isConcrete() ||
      !llvm::all_of(meta->strides, [](const pt2::SymInt &stride) { return stride.isConcrete(); }))
    return;
  SmallVector<int64_t> strides;
  for (const pt2::SymInt &stride : meta->strides)
    strides.push_back(stride.concrete());
  strides.push_back(meta->storageOffset.concrete());
  op->setAttr(attr::kOperandStrides, DenseI64ArrayAttr::get(op.getContext(), strides));
}

/// Nodes whose result follows from where the elements of `self` lie.
static bool dependsOnStrides(StringRef target) {
  return target == "aten::as_strided" || target == "aten::as_strided_copy" || target == "aten::as_strided_scatter";
}

/// `self` and the result of a node that has one of each; null where it has not.
static std::pair<const pt2::TensorMeta *, const pt2::TensorMeta *> selfAndResult(const pt2::Node &node,
                                                                                 const pt2::Graph &graph) {
  const pt2::Argument *self = node.findInput("self");
  if (!self || !self->is(ArgumentKind::Tensor) || node.outputs.size() != 1 ||
      !node.outputs.front().is(ArgumentKind::Tensor))
    return {};
  return {graph.findTensor(self->asTensor()), graph.findTensor(node.outputs.front().asTensor())};
}

/// Which sizes the exporter took to be 1 is not in the types of these: keeps what the expressions of the sizes say.
static void recordDropped(AtenOp op, const pt2::Node &node, const pt2::Graph &graph) {
  if (!StringRef(op.getTarget()).starts_with("aten::squeeze"))
    return;
  auto [operand, result] = selfAndResult(node, graph);
  if (!operand || !result)
    return;
  SmallVector<int64_t> dropped;
  auto kept = result->sizes.begin();
  for (auto [axis, size] : llvm::enumerate(operand->sizes)) {
    if (kept != result->sizes.end() && *kept == size)
      ++kept;
    else if (!size.isConcrete() || size.concrete() == 1)
      dropped.push_back(static_cast<int64_t>(axis));
    else
      return;
  }
  if (kept == result->sizes.end())
    op->setAttr(attr::kDropped, DenseI64ArrayAttr::get(op.getContext(), dropped));
}

/// Whether the result is a view of `self` is not in the schema of these: keeps what the exported strides say.
static void recordSharing(AtenOp op, const pt2::Node &node, const pt2::Graph &graph) {
  static const llvm::StringSet<> names = {"aten::contiguous", "aten::reshape", "aten::reshape_as", "aten::ravel",
                                          "aten::flatten.using_ints"};
  if (!names.contains(op.getTarget()))
    return;
  auto [operand, result] = selfAndResult(node, graph);
  if (!operand || !result)
    return;
  const SharingRule rule = op.getTarget() == "aten::contiguous" ? SharingRule::Contiguous
                           : op.getTarget() == "aten::ravel"    ? SharingRule::Ravel
                                                                : SharingRule::Reshape;
  std::optional<Sharing> sharing = sharingOf(*operand, *result, rule);
  if (!sharing)
    return;
  Builder builder(op.getContext());
  if (sharing->answer == Sharing::Answer::Varies)
    op->setAttr(attr::kShares, builder.getUnitAttr());
  else
    op->setAttr(attr::kShares, builder.getBoolAttr(sharing->answer == Sharing::Answer::Yes));
  SmallVector<StringRef> notOne(sharing->notOne.begin(), sharing->notOne.end());
  if (!notOne.empty())
    op->setAttr(attr::kNotOne, builder.getStrArrayAttr(notOne));
}

Status GraphImporter::importNode(const pt2::Node &node) {
  if (depth > kMaxDepth)
    return unsupportedError("sub-graphs are nested too deeply");
  Location location = makeLocation(builder.getContext(), sourceOf(node));
  std::string target = carrierTarget(node.target);
  ArgumentConverter converter(builder, scope);
  INGOT_TRY(DictionaryAttr args, convertArguments(node, pt2::findSchema(target), converter));
  INGOT_TRY(NodeOutputs outputs, outputsOf(node, builder));
  SmallVector<Type> types;
  for (const std::string &name : outputs.names) {
    INGOT_TRY(Type type, typeOf(name));
    types.push_back(type);
  }
  auto op = builder.create<AtenOp>(location, types, target, converter.operands, args, converter.graphs.size());
  if (dependsOnStrides(target))
    recordStrides(op, node, graph);
  recordDropped(op, node, graph);
  recordSharing(op, node, graph);
  if (!outputs.isPlain)
    op->setAttr(attr::kReturns, builder.getArrayAttr(outputs.layout));
  for (auto [body, region] : llvm::zip_equal(converter.graphs, op.getGraphs()))
    INGOT_CHECK(importBody(*body, region, location));
  for (auto [name, result] : llvm::zip_equal(outputs.names, op.getResults()))
    INGOT_CHECK(define(name, result));
  return {};
}

Status GraphImporter::importBody(const pt2::Graph &body, Region &region, Location location) {
  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(&region);
  GraphImporter inner(builder, body);
  inner.depth = depth + 1;
  for (const Argument &input : body.inputs) {
    std::string name = valueName(input);
    if (name.empty())
      continue;
    INGOT_TRY(Type type, inner.typeOf(name));
    INGOT_CHECK(inner.define(name, block->addArgument(type, location)));
  }
  INGOT_CHECK(inner.importNodes());
  return yieldOutputs(body, inner, location);
}

Status GraphImporter::yieldOutputs(const pt2::Graph &body, const GraphImporter &inner, Location location) {
  SmallVector<Value> values;
  SmallVector<Attribute> layout;
  bool isPlain = true;
  ArgumentConverter literals(builder, inner.scope);
  for (const Argument &output : body.outputs) {
    if (std::string name = valueName(output); !name.empty()) {
      INGOT_TRY(Value value, inner.lookup(name));
      layout.push_back(ValueRefAttr::get(builder.getContext(), values.size()));
      values.push_back(value);
      continue;
    }
    INGOT_TRY(Attribute literal, literals.convert(output));
    if (!literals.operands.empty())
      return unsupportedError("a sub-graph returns a list");
    layout.push_back(literal);
    isPlain = false;
  }
  auto yield = builder.create<YieldOp>(location, values);
  if (!isPlain)
    yield->setAttr(attr::kReturns, builder.getArrayAttr(layout));
  return {};
}

} // namespace ingot
