#include "codegen/ScalarFunctions.h"

#include "dialect/Ops.h"
#include "dialect/Types.h"

#include <optional>

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringSet.h>

using namespace mlir;

namespace ingot::codegen {

namespace {

// The kinds of scalar_ops.inc as sets of dtypes. Complex numbers have no exported functions.
enum Kinds : unsigned { Bools = 1, Integral = 2, Floating = 4 };
constexpr unsigned FLOATS = Floating;
constexpr unsigned INTEGERS = Integral | Bools;
constexpr unsigned NUMBERS = Integral | Floating;
constexpr unsigned ALL = Integral | Floating | Bools;
constexpr unsigned FLOATS_C = FLOATS;
constexpr unsigned NUMBERS_C = NUMBERS;
constexpr unsigned ALL_C = ALL;

struct Row {
  llvm::StringRef mnemonic;
  unsigned kinds;
};

constexpr Row kRows[] = {
#define SCALAR_UNARY(name, kinds) {#name, kinds},
#define SCALAR_TEST(name, kinds) {#name, kinds},
#define SCALAR_BINARY(name, kinds) {#name, kinds},
#define SCALAR_COMPARE(name, kinds) {#name, kinds},
#include "runtime/kernels/elementwise/scalar_ops.inc"
    {"select", ALL},
    {"cast", ALL},
};

Type elementOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getElementType() : Type();
}

unsigned kindOf(llvm::StringRef suffix) {
  if (suffix == "b")
    return Bools;
  return suffix.starts_with("i") || suffix.starts_with("u") ? Integral : Floating;
}

/// The element type that names the op's function: that of its data operands.
Type functionType(Operation *op) { return elementOf(op->getOperand(isa<SelectOp>(op) ? 1 : 0)); }

llvm::StringRef mnemonicOf(Operation *op) { return op->getName().stripDialect(); }

bool canCompileElementwise(Operation *op) {
  auto isHeld = [](Value value) { return !dtypeSuffix(elementOf(value)).empty(); };
  if (op->getNumOperands() == 0 || !llvm::all_of(op->getOperands(), isHeld) || !llvm::all_of(op->getResults(), isHeld))
    return false;
  llvm::StringRef mnemonic = mnemonicOf(op);
  unsigned kind = kindOf(dtypeSuffix(functionType(op)));
  return llvm::any_of(kRows, [&](const Row &row) { return row.mnemonic == mnemonic && (row.kinds & kind); });
}

} // namespace

llvm::StringRef dtypeSuffix(Type elementType) {
  std::optional<DType> dtype = elementType ? dtypeOfType(elementType) : std::nullopt;
  if (!dtype)
    return "";
  switch (*dtype) {
  case DType::Bool:
    return "b";
  case DType::UInt8:
    return "u8";
  case DType::UInt16:
    return "u16";
  case DType::UInt32:
    return "u32";
  case DType::UInt64:
    return "u64";
  case DType::Int8:
    return "i8";
  case DType::Int16:
    return "i16";
  case DType::Int32:
    return "i32";
  case DType::Int64:
    return "i64";
  case DType::Float16:
    return "f16";
  case DType::BFloat16:
    return "bf16";
  case DType::Float32:
    return "f32";
  case DType::Float64:
    return "f64";
  default:
    return "";
  }
}

std::string castFunctionName(llvm::StringRef from, llvm::StringRef to) {
  return ("ingot_s_cast_" + from + "_" + to).str();
}

std::string scalarFunctionName(Operation *op) {
  llvm::StringRef suffix = dtypeSuffix(functionType(op));
  if (isa<CastOp>(op))
    return castFunctionName(suffix, dtypeSuffix(elementOf(op->getResult(0))));
  return ("ingot_s_" + mnemonicOf(op) + "_" + suffix).str();
}

int64_t lastDimsReduced(Operation *op) {
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce || reduce.getDims().empty())
    return 0;
  int64_t rank = reduce.getX().getType().getRank();
  llvm::SmallVector<int64_t> dims(reduce.getDims());
  for (int64_t &dim : dims)
    dim = dim < 0 ? dim + rank : dim;
  llvm::sort(dims);
  auto count = static_cast<int64_t>(dims.size());
  for (int64_t i = 0; i < count; ++i)
    if (dims[i] != rank - count + i)
      return 0;
  return count;
}

bool canCompile(Operation *op) {
  if (op->hasTrait<Elementwise>())
    return canCompileElementwise(op);
  int64_t reduced = lastDimsReduced(op);
  if (reduced == 0)
    return false;
  // Over dimensions of size 1 nothing tells a row from its elements.
  auto type = cast<ReduceOp>(op).getX().getType();
  return !dtypeSuffix(type.getElementType()).empty() &&
         llvm::any_of(type.getShape().take_back(reduced), [](int64_t size) { return size != 1; });
}

bool isExpensive(Operation *op) {
  static const llvm::StringSet<> names = {
      "exp",  "exp2", "expm1", "log",   "log2", "log10", "log1p",     "sin",       "cos",      "tan",  "asin",
      "acos", "atan", "sinh",  "cosh",  "tanh", "asinh", "acosh",     "atanh",     "erf",      "erfc", "sigmoid",
      "silu", "gelu", "mish",  "atan2", "fmod", "pow",   "gelu_tanh", "remainder", "div_floor"};
  return names.contains(mnemonicOf(op));
}

bool callsLibrary(Operation *op) {
  static const llvm::StringSet<> names = {"tan",   "asin", "acos",  "atan",  "sinh", "cosh",      "asinh",    "acosh",
                                          "atanh", "erfc", "atan2", "hypot", "fmod", "remainder", "div_floor"};
  return names.contains(mnemonicOf(op));
}

} // namespace ingot::codegen
