// The program inside a .pt2 file as plain data: every struct and union of torch's export schema,
// with names and units as torch wrote them. Nothing here interprets an operator.
#pragma once

#include "base/DType.h"

#include <cassert>
#include <complex>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace ingot::pt2 {

struct Graph;

//===----------------------------------------------------------------------===//
// Symbolic scalars
//===----------------------------------------------------------------------===//

/// The value an expression had while tracing; monostate when unknown. Never a constraint.
using SymHint = std::variant<std::monostate, int64_t, double, bool>;

/// An expression in SymPy's srepr notation; parse it with SymExpr.h.
struct SymExprText {
  std::string text;
  SymHint hint;

  bool operator==(const SymExprText &) const = default;
};

/// A number that is known, or an expression over the program's symbols.
template <typename T> struct SymScalar {
  std::variant<T, SymExprText> value = T{};

  SymScalar() = default;
  SymScalar(T concrete) : value(concrete) {}
  SymScalar(SymExprText expr) : value(std::move(expr)) {}

  bool isConcrete() const { return std::holds_alternative<T>(value); }
  T concrete() const { return std::get<T>(value); }
  const SymExprText &expr() const { return std::get<SymExprText>(value); }
  bool operator==(const SymScalar &) const = default;
};

using SymInt = SymScalar<int64_t>;
using SymFloat = SymScalar<double>;
using SymBool = SymScalar<bool>;

/// An argument that is a literal or names a symbolic value of the graph (never an expression).
template <typename T> struct SymRef {
  std::variant<T, std::string> value = T{};

  SymRef() = default;
  SymRef(T literal) : value(literal) {}
  SymRef(std::string name) : value(std::move(name)) {}

  bool isName() const { return std::holds_alternative<std::string>(value); }
  const std::string &name() const { return std::get<std::string>(value); }
  T literal() const { return std::get<T>(value); }
  bool operator==(const SymRef &) const = default;
};

using SymIntRef = SymRef<int64_t>;
using SymFloatRef = SymRef<double>;
using SymBoolRef = SymRef<bool>;

//===----------------------------------------------------------------------===//
// Enumerations and tensor metadata (numbers are those of the file, not of c10)
//===----------------------------------------------------------------------===//

enum class Layout : uint8_t {
  Unknown = 0,
  SparseCoo = 1,
  SparseCsr = 2,
  SparseCsc = 3,
  SparseBsr = 4,
  SparseBsc = 5,
  Mkldnn = 6,
  Strided = 7,
};

enum class MemoryFormat : uint8_t {
  Unknown = 0,
  Contiguous = 1,
  ChannelsLast = 2,
  ChannelsLast3d = 3,
  Preserve = 4,
};

struct Device {
  std::string type; ///< "cpu", "cuda", "meta", ... of the exporting machine
  std::optional<int64_t> index;

  bool operator==(const Device &) const = default;
};

struct TensorMeta {
  DType dtype = DType::Float32;
  std::vector<SymInt> sizes;
  std::vector<SymInt> strides; ///< elements; only a hint for intermediate values
  SymInt storageOffset;        ///< elements
  bool requiresGrad = false;
  Device device;
  Layout layout = Layout::Strided;
};

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

struct CustomObjRef {
  std::string name;
  std::string className;

  bool operator==(const CustomObjRef &) const = default;
};

/// The body of a higher-order operator. Bodies are closed: what they use comes in as operands.
struct SubGraph {
  std::string name;
  std::shared_ptr<const Graph> graph;
};

struct Argument;
using ArgumentDict = std::vector<std::pair<std::string, Argument>>;

// Rows: enumerator, union member in the file, C++ type of the payload.
#define INGOT_PT2_ARGUMENTS(X)                                                                                         \
  X(None, "as_none", std::monostate)                                                                                   \
  X(Tensor, "as_tensor", std::string)                                                                                  \
  X(Tensors, "as_tensors", std::vector<std::string>)                                                                   \
  X(OptionalTensor, "as_optional_tensor", std::optional<std::string>)                                                  \
  X(OptionalTensors, "as_optional_tensors", std::vector<std::optional<std::string>>)                                   \
  X(NestedTensors, "as_nested_tensors", std::vector<std::vector<std::string>>)                                         \
  X(Int, "as_int", int64_t)                                                                                            \
  X(Ints, "as_ints", std::vector<int64_t>)                                                                             \
  X(IntLists, "as_int_lists", std::vector<std::vector<int64_t>>)                                                       \
  X(Float, "as_float", double)                                                                                         \
  X(Floats, "as_floats", std::vector<double>)                                                                          \
  X(FloatLists, "as_float_lists", std::vector<std::vector<double>>)                                                    \
  X(Bool, "as_bool", bool)                                                                                             \
  X(Bools, "as_bools", std::vector<bool>)                                                                              \
  X(String, "as_string", std::string)                                                                                  \
  X(Strings, "as_strings", std::vector<std::string>)                                                                   \
  X(Complex, "as_complex", std::complex<double>)                                                                       \
  X(SymInt, "as_sym_int", SymIntRef)                                                                                   \
  X(SymInts, "as_sym_ints", std::vector<SymIntRef>)                                                                    \
  X(SymFloat, "as_sym_float", SymFloatRef)                                                                             \
  X(SymFloats, "as_sym_floats", std::vector<SymFloatRef>)                                                              \
  X(SymBool, "as_sym_bool", SymBoolRef)                                                                                \
  X(SymBools, "as_sym_bools", std::vector<SymBoolRef>)                                                                 \
  X(ScalarType, "as_scalar_type", DType)                                                                               \
  X(MemoryFormat, "as_memory_format", pt2::MemoryFormat)                                                               \
  X(Layout, "as_layout", pt2::Layout)                                                                                  \
  X(Device, "as_device", pt2::Device)                                                                                  \
  X(Graph, "as_graph", SubGraph)                                                                                       \
  X(CustomObj, "as_custom_obj", CustomObjRef)                                                                          \
  X(Operator, "as_operator", std::string)                                                                              \
  X(Dict, "as_string_to_argument", ArgumentDict)                                                                       \
  /* Not a union member: an as_int above int64 (a uint64 fill value). */                                               \
  X(UInt64, "as_int (unsigned)", uint64_t)

enum class ArgumentKind : uint8_t {
#define X(name, member, type) name,
  INGOT_PT2_ARGUMENTS(X)
#undef X
};

/// The union member's name in the file, for messages ("as_tensors").
std::string_view argumentKindName(ArgumentKind kind);

/// One argument or output: a kind and the payload of that kind's row in the table above.
struct Argument {
  using Payload =
      std::variant<std::monostate, bool, int64_t, uint64_t, double, std::complex<double>, DType, pt2::MemoryFormat,
                   pt2::Layout, pt2::Device, std::string, std::optional<std::string>, std::vector<std::string>,
                   std::vector<std::optional<std::string>>, std::vector<std::vector<std::string>>, std::vector<bool>,
                   std::vector<int64_t>, std::vector<std::vector<int64_t>>, std::vector<double>,
                   std::vector<std::vector<double>>, SymIntRef, SymFloatRef, SymBoolRef, std::vector<SymIntRef>,
                   std::vector<SymFloatRef>, std::vector<SymBoolRef>, CustomObjRef, SubGraph, ArgumentDict>;

  ArgumentKind kind = ArgumentKind::None;
  Payload payload;

  bool is(ArgumentKind wanted) const { return kind == wanted; }
  bool isNone() const { return kind == ArgumentKind::None; }

  // `Argument::makeInts({1, 1})`, `argument.isInts()`, `argument.asInts()` for every row.
#define X(name, member, type)                                                                                          \
  static Argument make##name(type value = {}) {                                                                        \
    return {ArgumentKind::name, Payload(std::in_place_type<type>, std::move(value))};                                  \
  }                                                                                                                    \
  const type &as##name() const {                                                                                       \
    assert(kind == ArgumentKind::name);                                                                                \
    return std::get<type>(payload);                                                                                    \
  }
  INGOT_PT2_ARGUMENTS(X)
#undef X
};

/// Calls `visit` with every value name that `argument` refers to, in order; bodies of sub-graphs
/// are not entered (they are scopes of their own).
void forEachValueName(const Argument &argument, const std::function<void(const std::string &)> &visit);

//===----------------------------------------------------------------------===//
// Nodes and graphs
//===----------------------------------------------------------------------===//

enum class PassedAs : uint8_t { Unknown = 0, Positional = 1, Keyword = 2 };

struct NamedArgument {
  std::string name; ///< the schema's argument name; empty for operands of higher-order operators
  Argument value;
  PassedAs passedAs = PassedAs::Unknown;
};

/// Where a node comes from. SourceLocation.h turns it into file, line and module path.
struct NodeMetadata {
  std::string stackTrace;
  std::string moduleStack; ///< nn_module_stack
  std::string torchFn;
  std::map<std::string, std::string> other;
};

struct Node {
  std::string target; ///< as in the file: "torch.ops.aten.add.Tensor", "_operator.mul", ...
  std::string name;   ///< FX name; not a value name when there are several outputs
  std::vector<NamedArgument> inputs;
  std::vector<Argument> outputs;
  NodeMetadata metadata;
  std::optional<bool> hopReturnsSingleTensor;

  /// The argument called `name`, or null when the file omits it (then the schema's default holds).
  const Argument *findInput(std::string_view name) const;
};

template <typename T> using NameMap = std::map<std::string, T, std::less<>>;

struct Graph {
  std::vector<Argument> inputs;
  std::vector<Argument> outputs;
  std::vector<Node> nodes; ///< in execution order, which must be kept (mutations, asserts)
  NameMap<TensorMeta> tensorValues;
  NameMap<SymInt> symIntValues;
  NameMap<SymFloat> symFloatValues;
  NameMap<SymBool> symBoolValues;
  NameMap<CustomObjRef> customObjValues;
  bool returnsSingleTensor = false;

  const TensorMeta *findTensor(std::string_view name) const;
};

//===----------------------------------------------------------------------===//
// Signature
//===----------------------------------------------------------------------===//

enum class InputKind : uint8_t {
  UserInput,      ///< `value` is Tensor, SymInt or CustomObj
  ConstantInput,  ///< a literal the user passed: baked in, still a slot of the flat call
  Parameter,      ///< `target` is a key of Program::weights
  Buffer,         ///< `target` is a key of weights if persistent, else of constants
  TensorConstant, ///< `target` is a key of Program::constants
  CustomObj,      ///< `target` is a key of Program::constants
  Token,
};

struct InputSpec {
  InputKind kind = InputKind::UserInput;
  Argument value;     ///< what graph.inputs[i] is: a named value, or the literal
  std::string target; ///< fully qualified name of the parameter, buffer, constant or object;
                      ///< for ConstantInput the argument's name
  bool persistent = true;
};

enum class OutputKind : uint8_t {
  UserOutput,
  Loss,
  BufferMutation,    ///< write `value` back into buffer `target` after the run
  ParameterMutation, ///< likewise for a parameter
  UserInputMutation, ///< copy `value` into the caller's tensor; `target` is a graph input's name
  GradientToParameter,
  GradientToUserInput,
  Token,
};

struct OutputSpec {
  OutputKind kind = OutputKind::UserOutput;
  Argument value;
  std::string target;
};

struct Signature {
  std::vector<InputSpec> inputs;   ///< one per graph input, same order
  std::vector<OutputSpec> outputs; ///< one per graph output, same order
};

//===----------------------------------------------------------------------===//
// Pytrees and module calls
//===----------------------------------------------------------------------===//

enum class TreeKind : uint8_t {
  Leaf,
  Tuple,
  List,
  Dict,
  OrderedDict,
  DefaultDict,
  Deque,
  NamedTuple,
  Other, ///< registered by a library; children can be counted but not rebuilt without it
};

using TreeKey = std::variant<std::string, int64_t, double, bool, std::monostate>;

struct TreeSpec {
  TreeKind kind = TreeKind::Leaf;
  std::string type;    ///< type name in the file, empty for a leaf
  std::string context; ///< the type's own data as JSON text
  /// One per child for dictionaries (in order) and named tuples (field names); else empty.
  std::vector<TreeKey> keys;
  std::vector<TreeSpec> children;

  size_t leafCount() const;
};

struct ModuleCallSignature {
  std::vector<Argument> inputs, outputs;
  std::string inSpecText, outSpecText; ///< as in the file, for a door that has torch's pytree
  TreeSpec inSpec, outSpec;
  std::optional<std::vector<std::string>> forwardArgNames;
};

struct ModuleCall {
  std::string path; ///< "encoder.layer.0", "" for the root, "x@1" for a second call of x
  std::optional<ModuleCallSignature> signature;
};

/// Bounds are inclusive; nullopt means unbounded.
struct RangeConstraint {
  std::optional<int64_t> min, max;
};

} // namespace ingot::pt2
