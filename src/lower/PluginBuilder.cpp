#include "lower/PluginBuilder.h"

#include "dialect/Types.h"
#include "import/Location.h"
#include "lower/CreateOp.h"
#include "pt2/Schema.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/raw_ostream.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::lower;

//===------------------------------------------------------------------------------------------===//
// Types and arguments
//===------------------------------------------------------------------------------------------===//

/// The order of the schema; without one, by name, `arg10` after `arg9`.
static std::vector<NamedAttribute> orderedArguments(AtenOp node) {
  DictionaryAttr args = node.getArgs();
  std::vector<NamedAttribute> ordered;
  StringRef target = node.getTarget();
  if (const pt2::OpSchema *schema = pt2::findSchema(std::string_view(target.data(), target.size()))) {
    for (const pt2::SchemaArgument &argument : schema->arguments)
      if (std::optional<NamedAttribute> found = args.getNamed(argument.name))
        ordered.push_back(*found);
    return ordered;
  }
  ordered.assign(args.begin(), args.end());
  llvm::sort(ordered, [](NamedAttribute a, NamedAttribute b) {
    StringRef x = a.getName(), y = b.getName();
    return std::pair(x.size(), x) < std::pair(y.size(), y);
  });
  return ordered;
}

ingot_builder::ingot_builder(OpBuilder &builder, Location loc, AtenOp node) : builder(builder), loc(loc), node(node) {
  if (node)
    arguments = orderedArguments(node);
}

ingot_type ingot_builder::describe(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  std::optional<DType> dtype = dtypeOfType(tensor ? tensor.getElementType() : type);
  int32_t number = dtype ? static_cast<int32_t>(*dtype) : INGOT_NO_DTYPE;
  if (!tensor)
    return {1, number, 0, nullptr};
  shapes.emplace_back(tensor.getShape().begin(), tensor.getShape().end());
  return {0, number, static_cast<int32_t>(tensor.getRank()), shapes.back().data()};
}

static Type dtypeFrom(int32_t dtype, MLIRContext *context) {
  bool isKnown = dtype >= 0 && dtype <= static_cast<int32_t>(DType::Complex128);
  return isKnown ? typeOfDType(static_cast<DType>(dtype), context) : Type();
}

Type lower::toType(const ingot_type &type, MLIRContext *context) {
  Type element = dtypeFrom(type.dtype, context);
  if (!element || type.is_number)
    return element;
  auto isSize = [](int64_t size) { return size >= 0 || size == INGOT_DYNAMIC; };
  if (type.rank < 0 || (type.rank > 0 && !type.sizes))
    return {};
  ArrayRef<int64_t> sizes(type.sizes, type.rank);
  return llvm::all_of(sizes, isSize) ? Type(RankedTensorType::get(sizes, element)) : Type();
}

static ingot_argument toArgument(Attribute attribute) {
  return static_cast<ingot_argument>(attribute.getAsOpaquePointer());
}
static Attribute toAttribute(ingot_argument argument) { return Attribute::getFromOpaquePointer(argument); }

static Value operandOf(ingot_builder *b, Attribute attribute) {
  auto ref = dyn_cast_or_null<ValueRefAttr>(attribute);
  bool isValid = b->node && ref && ref.getIndex() >= 0 && ref.getIndex() < b->node->getNumOperands();
  return isValid ? b->node->getOperand(ref.getIndex()) : Value();
}

static ingot_argument_kind kindOf(ingot_builder *, ingot_argument argument) {
  Attribute attribute = toAttribute(argument);
  if (!attribute || isa<UnitAttr>(attribute))
    return INGOT_ARGUMENT_NONE;
  if (isa<ValueRefAttr>(attribute))
    return INGOT_ARGUMENT_VALUE;
  if (isa<ArrayAttr, DenseI64ArrayAttr>(attribute))
    return INGOT_ARGUMENT_LIST;
  if (isa<BoolAttr>(attribute))
    return INGOT_ARGUMENT_BOOL;
  if (isa<IntegerAttr>(attribute))
    return INGOT_ARGUMENT_INT;
  if (isa<FloatAttr>(attribute))
    return INGOT_ARGUMENT_FLOAT;
  if (isa<StringAttr>(attribute))
    return INGOT_ARGUMENT_STRING;
  auto type = dyn_cast<TypeAttr>(attribute);
  return type && dtypeOfType(type.getValue()) ? INGOT_ARGUMENT_DTYPE : INGOT_ARGUMENT_OTHER;
}

static size_t listSize(ingot_builder *, ingot_argument argument) {
  Attribute attribute = toAttribute(argument);
  if (auto list = dyn_cast_or_null<ArrayAttr>(attribute))
    return list.size();
  auto numbers = dyn_cast_or_null<DenseI64ArrayAttr>(attribute);
  return numbers ? numbers.size() : 0;
}

static ingot_argument listItem(ingot_builder *b, ingot_argument argument, size_t index) {
  if (index >= listSize(b, argument))
    return nullptr;
  Attribute attribute = toAttribute(argument);
  if (auto list = dyn_cast<ArrayAttr>(attribute))
    return toArgument(list[index]);
  return toArgument(b->builder.getI64IntegerAttr(cast<DenseI64ArrayAttr>(attribute)[index]));
}

static int64_t intOf(ingot_builder *, ingot_argument argument) {
  Attribute attribute = toAttribute(argument);
  if (auto boolean = dyn_cast_or_null<BoolAttr>(attribute))
    return boolean.getValue();
  if (auto real = dyn_cast_or_null<FloatAttr>(attribute))
    return static_cast<int64_t>(real.getValueAsDouble());
  auto integer = dyn_cast_or_null<IntegerAttr>(attribute);
  return integer ? integer.getValue().getSExtValue() : 0;
}

static double floatOf(ingot_builder *b, ingot_argument argument) {
  auto real = dyn_cast_or_null<FloatAttr>(toAttribute(argument));
  return real ? real.getValueAsDouble() : static_cast<double>(intOf(b, argument));
}

static const char *textOf(ingot_builder *b, ingot_argument argument) {
  Attribute attribute = toAttribute(argument);
  if (auto text = dyn_cast_or_null<StringAttr>(attribute))
    return b->keep(text.str());
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return b->keep(text);
}

static int32_t argumentDtype(ingot_builder *, ingot_argument argument) {
  auto type = dyn_cast_or_null<TypeAttr>(toAttribute(argument));
  std::optional<DType> dtype = type ? dtypeOfType(type.getValue()) : std::nullopt;
  return dtype ? static_cast<int32_t>(*dtype) : INGOT_NO_DTYPE;
}

//===------------------------------------------------------------------------------------------===//
// The node
//===------------------------------------------------------------------------------------------===//

static SourceInfo sourceOf(ingot_builder *b) { return b->node ? sourceInfo(b->node.getLoc()) : SourceInfo(); }

static const char *nodePath(ingot_builder *b) {
  std::string path;
  Operation *op = b->node;
  while (op && op->getParentRegion()) {
    unsigned number = op->getParentRegion()->getRegionNumber();
    op = op->getParentOp();
    if (!isa_and_nonnull<AtenOp>(op))
      break;
    path = sourceInfo(op->getLoc()).node + ":" + std::to_string(number) + (path.empty() ? "" : "/") + path;
  }
  return b->keep(path);
}

static const char *nodeFunction(ingot_builder *b) {
  auto func = b->node ? b->node->getParentOfType<func::FuncOp>() : nullptr;
  return b->keep(func ? func.getSymName().str() : "");
}

static int32_t setResults(ingot_builder *b, const ingot_value *values, size_t count) {
  b->results.clear();
  for (size_t i = 0; i < count; ++i)
    b->results.push_back(toValue(values[i]));
  b->hasResults = true;
  return INGOT_PLUGIN_OK;
}

//===------------------------------------------------------------------------------------------===//
// Building
//===------------------------------------------------------------------------------------------===//

static Result<OpRequest> toRequest(ingot_builder *b, const ingot_op &op) {
  OpRequest request;
  MLIRContext *context = b->builder.getContext();
  request.name = op.name ? op.name : "";
  for (size_t i = 0; i < op.operand_count; ++i)
    request.operands.push_back(toValue(op.operands[i]));
  if (op.groups)
    request.groups.assign(op.groups, op.groups + op.group_count);
  request.attributes = op.attributes ? op.attributes : "";
  request.dtype = dtypeFrom(op.dtype, context);
  if (op.dtype != INGOT_NO_DTYPE && !request.dtype)
    return usageError("there is no element type number " + std::to_string(op.dtype));
  request.infersResults = !op.result_types;
  for (size_t i = 0; op.result_types && i < op.result_count; ++i) {
    request.results.push_back(toType(op.result_types[i], context));
    if (!request.results.back())
      return usageError("result type number " + std::to_string(i) + " is none that programs have");
  }
  return request;
}

static int32_t create(ingot_builder *b, const ingot_op *op, ingot_value *results, size_t capacity, size_t *count) {
  Result<OpRequest> request = toRequest(b, *op);
  if (!request)
    return b->fail(request.error().str());
  Result<Operation *> made = createOp(b->builder, b->loc, *request);
  if (!made)
    return b->fail(made.error().str());
  for (auto [i, value] : llvm::enumerate((*made)->getResults()))
    if (i < capacity)
      results[i] = toHandle(value);
  if (count)
    *count = (*made)->getNumResults();
  return INGOT_PLUGIN_OK;
}

static ingot_value constant(ingot_builder *b, const ingot_type *type, const void *data, size_t bytes) {
  auto tensor = dyn_cast_or_null<RankedTensorType>(toType(*type, b->builder.getContext()));
  if (!tensor) {
    b->fail("a constant needs a tensor type");
    return nullptr;
  }
  Result<Value> made =
      createConstant(b->builder, b->loc, tensor, ArrayRef<char>(static_cast<const char *>(data), bytes));
  if (made)
    return toHandle(*made);
  b->fail(made.error().str());
  return nullptr;
}

static const void *constantData(ingot_builder *b, ingot_value value, size_t *bytes) {
  std::optional<std::vector<char>> found = value ? constantBytes(toValue(value)) : std::nullopt;
  if (!found)
    return nullptr;
  *bytes = found->size();
  // A constant without elements is a constant too.
  found->reserve(1);
  return b->blobs.emplace_back(std::move(*found)).data();
}

static ingot_value number(ingot_builder *b, TypedAttr value) {
  return toHandle(b->builder.create<arith::ConstantOp>(b->loc, value));
}

static const char *typeText(ingot_builder *b, ingot_value value) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (value)
    out << toValue(value).getType();
  return b->keep(text);
}

static ingot_argument findArgument(ingot_builder *b, const char *name) {
  for (NamedAttribute argument : b->arguments)
    if (argument.getName() == name)
      return toArgument(argument.getValue());
  return nullptr;
}

static ingot_builder_api makeApi() {
  ingot_builder_api api = {
      .version = INGOT_PLUGIN_VERSION,
      .last_error = [](ingot_builder *b) { return b->error.c_str(); },
      .fail = [](ingot_builder *b, const char *message) { return b->fail(message); },
      .node_target = [](ingot_builder *b) { return b->keep(b->node ? b->node.getTarget().str() : ""); },
      .node_name = [](ingot_builder *b) { return b->keep(sourceOf(b).node); },
      .node_file = [](ingot_builder *b) { return b->keep(sourceOf(b).file); },
      .node_line = [](ingot_builder *b) { return sourceOf(b).line; },
      .node_path = nodePath,
      .node_function = nodeFunction,
      .argument_count = [](ingot_builder *b) { return b->arguments.size(); },
      .argument_name = [](ingot_builder *b, size_t i) -> const char * {
        return i < b->arguments.size() ? b->keep(b->arguments[i].getName().str()) : nullptr;
      },
      .argument_at = [](ingot_builder *b, size_t i) -> ingot_argument {
        return i < b->arguments.size() ? toArgument(b->arguments[i].getValue()) : nullptr;
      },
      .argument = findArgument,
      .argument_kind = kindOf,
      .argument_value = [](ingot_builder *b, ingot_argument argument) -> ingot_value {
        return toHandle(operandOf(b, toAttribute(argument)));
      },
      .list_size = listSize,
      .list_item = listItem,
      .argument_int = intOf,
      .argument_float = floatOf,
      .argument_text = textOf,
      .argument_dtype = argumentDtype,
      .result_count = [](ingot_builder *b) -> size_t { return b->node ? b->node->getNumResults() : 0; },
      .result_type = [](ingot_builder *b, size_t i) -> ingot_type {
        bool isThere = b->node && i < b->node->getNumResults();
        return isThere ? b->describe(b->node->getResult(i).getType()) : ingot_type{1, INGOT_NO_DTYPE, 0, nullptr};
      },
      .set_results = setResults,
      .value_type = [](ingot_builder *b, ingot_value value) -> ingot_type {
        return value ? b->describe(toValue(value).getType()) : ingot_type{1, INGOT_NO_DTYPE, 0, nullptr};
      },
      .value_type_text = typeText,
      .create = create,
      .constant = constant,
      .constant_data = constantData,
      .int_number = [](ingot_builder *b, int64_t value) { return number(b, b->builder.getI64IntegerAttr(value)); },
      .float_number = [](ingot_builder *b, double value) { return number(b, b->builder.getF64FloatAttr(value)); },
      .bool_number = [](ingot_builder *b, int32_t value) { return number(b, b->builder.getBoolAttr(value != 0)); },
      .begin_body = nullptr,
      .end_body = nullptr,
      .drop_body = nullptr,
      .create_if = nullptr,
      .create_while = nullptr,
      .define_function = nullptr,
      .call_function = nullptr,
  };
  addBodyFunctions(api);
  return api;
}

const ingot_builder_api &lower::builderApi() {
  static const ingot_builder_api api = makeApi();
  return api;
}
