// A plan is what the compiler hands to the runtime: kernels in order, over numbered values.
// It is independent of sizes: a dimension that is only known at run time is kDynamic here, and
// binding a plan to input sizes (Binding.h) computes the rest. It is stored as JSON (PlanJson.h).
#pragma once

#include "base/DType.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace ingot {

/// Version of the plan's JSON form. 1: first. 2: internal functions. 3: written arguments are states.
inline constexpr int kPlanVersion = 3;

inline constexpr int64_t kDynamic = -1;

/// Index into Function::values; kNoValue stands for an optional operand that is absent.
using ValueId = int32_t;
inline constexpr ValueId kNoValue = -1;

/// Scalars are the program's symbolic numbers (sizes and what is computed from them):
/// Int64 for ints, Float64 for floats, Bool for bools. They live on the host, not in the arena.
enum class ValueKind : uint8_t { Tensor, Scalar };

struct Value {
  ValueKind kind = ValueKind::Tensor;
  DType dtype = DType::Float32;
  std::vector<int64_t> shape; ///< kDynamic where unknown; empty for scalars
};

using Attribute = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                               std::vector<std::string>>;
using Attributes = std::map<std::string, Attribute, std::less<>>;

/// One kernel call. Steps are made from ops of the ingot dialect by one rule: the kernel is the op's
/// mnemonic, operands are the op's operands in ODS order (kNoValue where an optional one is absent), and
/// attributes keep their names: I64 -> int64_t, F64 -> double, Bool -> bool, arrays -> vectors,
/// enums -> their keyword ("relu"). A dynamic entry of a list is INT64_MIN, as in MLIR; the next of the
/// op's `dynamic` scalar operands gives its value. Ops of the arith dialect on symbolic numbers keep
/// their full name ("arith.addi").
struct Step {
  std::string kernel; ///< name in the kernel registry, e.g. "matmul", "cluster", "reshape"
  std::vector<ValueId> operands;
  std::vector<ValueId> results;
  Attributes attributes;
  std::string node;   ///< name of the exported node(s) it comes from
  std::string source; ///< "file.py:12" of the user's Python, may be empty
};

/// A value whose content is known before any call.
struct Constant {
  ValueId value = kNoValue;
  std::string weight; ///< key in weights.safetensors; when empty, `bytes` holds the content
  std::vector<std::byte> bytes;
};

struct Input {
  std::string name;
  ValueId value = kNoValue;
  /// Per dimension: the symbol's expression ("s0", "2*s0"), or the number as text.
  std::vector<std::string> dims;
  std::string literal;     ///< JSON text when the argument is no tensor (None, 3, "x"); value is kNoValue then
  bool isReadLate = false; ///< after another argument was changed, whose memory it must not be in
  std::string symbol = {}; ///< of a whole number, for conditions on sizes
};

struct Output {
  std::string name;
  ValueId value = kNoValue;
  std::string literal; ///< as for Input
};

/// A named tensor that a call updates in place: read as `input`, replaced by `output`. It lies in the caller's memory
/// or, if it is no argument, may lie in the program's, where it survives from call to call.
struct State {
  std::string name;
  ValueId input = kNoValue;
  ValueId output = kNoValue;
  std::string initialWeight; ///< key in weights.safetensors of the value before the first call; empty for arguments

  /// Whether it is one of Function::inputs, which has the same value. Always the caller's memory.
  bool isArgument() const { return initialWeight.empty(); }
};

struct SymbolRange {
  std::string symbol;
  int64_t min = 0;
  int64_t max = INT64_MAX;
};

/// An entry point, or a function that entry points call. A function is either a straight run of steps, planned at once,
/// or a list of calls: steps `invoke` and steps whose kernel has KernelDef::evaluate, run one after another.
struct Function {
  std::string name;
  bool isInternal = false; ///< not for the user; only called by functions further down in the plan
  std::vector<Value> values;
  std::vector<Constant> constants;
  /// Steps that depend on constants only; they run once when the program is loaded.
  std::vector<Step> prologue;
  std::vector<Step> steps;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<State> states;
  std::vector<SymbolRange> symbols;
  /// torch's tree specs as JSON text: how the caller's arguments flatten to `inputs`, and outputs back.
  std::string inSpec, outSpec;
};

struct Plan {
  std::vector<Function> functions;
  std::string kernelLibrary; ///< file name of the compiled clusters beside the plan; may be empty
};

} // namespace ingot
