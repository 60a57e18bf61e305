#include "lower/CreateOp.h"

#include "dialect/Ops.h"
#include "dialect/Types.h"
#include "lower/Complaints.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ingot::lower {

namespace {

constexpr StringRef kGroups = "operandSegmentSizes";

/// Part of the structure of programs, or made by passes.
bool isReserved(StringRef name) {
  static const llvm::StringSet<> reserved = {"ingot.aten",  "ingot.yield",    "ingot.cluster", "ingot.if",
                                             "ingot.while", "ingot.for_each", "ingot.invoke",  "ingot.weight"};
  return reserved.contains(name);
}

std::string nearestName(StringRef wanted, MLIRContext *context) {
  std::string best;
  unsigned distance = 4; // further away is another word
  for (RegisteredOperationName name : context->getRegisteredOperations()) {
    StringRef known = name.getStringRef();
    if (!known.starts_with("ingot.") || isReserved(known))
      continue;
    unsigned far = known.edit_distance(wanted, /*AllowReplacements=*/true, distance);
    if (far < distance) {
      distance = far;
      best = known.str();
    }
  }
  return best;
}

Result<RegisteredOperationName> findOp(StringRef name, MLIRContext *context) {
  std::optional<RegisteredOperationName> found = RegisteredOperationName::lookup(name, context);
  bool isOurs = name.starts_with("ingot.") || name.starts_with("arith.");
  if (!found || !isOurs) {
    std::string nearest = nearestName(name, context);
    return usageError("there is no op '" + name.str() + "'" +
                      (nearest.empty() ? "" : "; did you mean '" + nearest + "'?"));
  }
  if (isReserved(name))
    return usageError("'" + name.str() + "' cannot be built by name");
  return *found;
}

Result<DictionaryAttr> parseAttributes(StringRef text, MLIRContext *context) {
  text = text.trim();
  if (text.empty())
    return DictionaryAttr::get(context);
  Complaints complaints(context);
  std::string braced = text.starts_with("{") ? text.str() : ("{" + text + "}").str();
  auto attributes = dyn_cast_or_null<DictionaryAttr>(parseAttribute(braced, context));
  if (!attributes)
    return usageError("the attributes `" + text.str() +
                      "` do not parse: " + (complaints.text.empty() ? "not a dictionary" : complaints.text));
  return attributes;
}

/// Attributes that ops got later: what was written before does without them.
constexpr llvm::StringLiteral kWithDefault[] = {"nan_rows"};

/// Every attribute of an op of ours is there, unless it has a default, and no other.
Status checkNames(RegisteredOperationName name, DictionaryAttr attributes) {
  if (!name.getStringRef().starts_with("ingot."))
    return {};
  std::string known;
  llvm::StringSet<> names;
  for (StringAttr attribute : name.getAttributeNames()) {
    if (attribute == kGroups)
      continue;
    names.insert(attribute.getValue());
    known += (known.empty() ? "" : ", ") + attribute.str();
    if (!attributes.contains(attribute.getValue()) && !llvm::is_contained(kWithDefault, attribute.getValue()))
      return usageError(name.getStringRef().str() + " needs the attribute '" + attribute.str() + "'");
  }
  for (NamedAttribute given : attributes)
    if (!names.contains(given.getName()))
      return usageError(name.getStringRef().str() + " has no attribute '" + given.getName().str() + "'; it has " +
                        (known.empty() ? "none" : known));
  return {};
}

Status checkAttributes(RegisteredOperationName name, DictionaryAttr attributes, Location loc) {
  INGOT_CHECK(checkNames(name, attributes));
  Complaints complaints(name.getContext());
  NamedAttrList list(attributes);
  if (failed(name.verifyInherentAttrs(list, [&] { return emitError(loc); })))
    return usageError(name.getStringRef().str() + ": " + complaints.text);
  return {};
}

/// How the operands are divided, where an op has optional ones.
Result<DictionaryAttr> addGroups(RegisteredOperationName name, const OpRequest &request, DictionaryAttr attributes) {
  if (!llvm::is_contained(name.getAttributeNames(), kGroups))
    return attributes;
  int64_t sum = 0;
  for (int32_t count : request.groups) {
    if (count < 0)
      return usageError(name.getStringRef().str() + ": a group of operands cannot have a negative size");
    sum += count;
  }
  if (request.groups.empty() || sum != static_cast<int64_t>(request.operands.size()))
    return usageError(name.getStringRef().str() +
                      " has optional operands: say how many each of its operands is, and give as many");
  NamedAttrList list(attributes);
  list.set(kGroups, DenseI32ArrayAttr::get(name.getContext(), request.groups));
  return list.getDictionary(name.getContext());
}

bool isValueType(Type type) {
  return isa<RankedTensorType>(type) || type.isSignlessInteger(64) || type.isSignlessInteger(1) || type.isF64();
}

} // namespace

Result<Operation *> createOp(OpBuilder &builder, Location loc, const OpRequest &request) {
  MLIRContext *context = builder.getContext();
  std::string fullName = request.name.find('.') == std::string::npos ? "ingot." + request.name : request.name;
  INGOT_TRY(RegisteredOperationName name, findOp(fullName, context));
  INGOT_TRY(DictionaryAttr attributes, parseAttributes(request.attributes, context));
  INGOT_CHECK(checkAttributes(name, attributes, loc));
  if (llvm::is_contained(request.operands, Value()))
    return usageError(fullName + ": an operand is no value");
  SmallVector<Type> types = request.results;
  if (request.infersResults) {
    SmallVector<Type> operandTypes(ValueRange(request.operands).getTypes());
    INGOT_TRY(types, inferResultTypes({fullName, operandTypes, request.groups, attributes, request.dtype}));
  }
  if (!llvm::all_of(types, isValueType))
    return usageError(fullName + ": results are tensors, or numbers of i64, f64 or i1");
  INGOT_TRY(attributes, addGroups(name, request, attributes));

  OperationState state(loc, name, request.operands, types, attributes.getValue());
  Operation *op = Operation::create(state);
  Complaints complaints(context);
  if (failed(verify(op))) {
    op->destroy();
    return usageError(complaints.text.empty() ? fullName + " is not valid" : complaints.text);
  }
  builder.insert(op);
  return op;
}

//===------------------------------------------------------------------------------------------===//
// Constants
//===------------------------------------------------------------------------------------------===//

Result<Value> createConstant(OpBuilder &builder, Location loc, RankedTensorType type, ArrayRef<char> bytes) {
  Type element = type.getElementType();
  std::optional<DType> dtype = dtypeOfType(element);
  if (!type.hasStaticShape() || !dtype)
    return usageError("a constant has known sizes");
  // What MLIR has no number type for cannot be written in the program.
  if (!isa<FloatType, IntegerType, ComplexType>(element))
    return usageError("a constant cannot be of " + std::string(dtypeName(*dtype)));
  size_t wanted = static_cast<size_t>(type.getNumElements()) * byteSize(*dtype);
  if (bytes.size() != wanted)
    return usageError("a constant of these sizes has " + std::to_string(wanted) + " bytes, not " +
                      std::to_string(bytes.size()));
  DenseElementsAttr value;
  if (isBool(element)) {
    SmallVector<bool> flags;
    for (char byte : bytes)
      flags.push_back(byte != 0);
    value = DenseElementsAttr::get(type, ArrayRef<bool>(flags));
  } else {
    bool isSplat = false;
    if (!DenseElementsAttr::isValidRawBuffer(type, bytes, isSplat))
      return usageError("the elements of a constant do not fit its type");
    value = DenseElementsAttr::getFromRawBuffer(type, bytes);
  }
  return Value(builder.create<ConstantOp>(loc, value).getResult());
}

std::optional<std::vector<char>> constantBytes(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!elements)
    return std::nullopt;
  std::vector<char> bytes;
  size_t count = elements.getNumElements();
  if (isBool(elements.getElementType())) {
    for (bool flag : elements.getValues<bool>())
      bytes.push_back(flag);
    return bytes;
  }
  ArrayRef<char> raw = elements.getRawData();
  for (size_t i = 0; i < (elements.isSplat() ? count : 1); ++i)
    bytes.insert(bytes.end(), raw.begin(), raw.end());
  return bytes;
}

} // namespace ingot::lower
