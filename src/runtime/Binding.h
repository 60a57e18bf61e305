// A plan's function bound to sizes: every shape, layout, kernel and buffer decided, ready to run.
#pragma once

#include "runtime/Kernel.h"
#include "runtime/Plan.h"
#include "runtime/Profile.h"

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace ingot {

/// A value that is known before binding: a weight, a literal, or a result of the prologue.
struct KnownValue {
  TensorDesc desc;
  const void *data = nullptr;
  size_t bytes = 0; ///< readable from `data` on
  std::optional<ScalarValue> scalar;
};

/// Where a binding finds what is not in the plan. Everything must outlive the binding.
struct BindEnvironment {
  const Function &function;
  std::vector<std::optional<KnownValue>> known; ///< by ValueId
  std::function<void *(const std::string &symbol)> findSymbol;
  /// A contiguous copy of constant data that lives as long as the program; null: copied in every call.
  std::function<Result<const void *>(const void *data, const TensorDesc &desc)> contiguousConstant;
  Precision precision = Precision::Highest; ///< as StepContext::precision
  const MethodTable *methods = nullptr;     ///< null: the usual ones
};

/// An input as far as binding is concerned. `scalar` is set for symbolic numbers.
struct InputDesc {
  TensorDesc desc;
  std::optional<ScalarValue> scalar;
  /// Nobody needs its content after the call; it is contiguous, and an output may come back in its memory.
  bool mayOverwrite = false;
};

enum class BufferKind : uint8_t {
  Arena,
  Constant,
  Input,
  State,     ///< the value a state has before the call
  NextState, ///< memory for the value it has afterwards
  Output,
};

struct Buffer {
  BufferKind kind = BufferKind::Arena;
  int32_t index = -1;         ///< number of the input, state or output
  const void *data = nullptr; ///< of constants
  size_t bytes = 0;
  int32_t first = 0; ///< first and last step that needs it
  int32_t last = 0;
  size_t offset = 0;         ///< in the arena
  bool mayOverwrite = false; ///< of inputs: InputDesc::mayOverwrite
};

struct Location {
  int32_t buffer = -1; ///< -1: nowhere (absent operands, scalars)
  int64_t offset = 0;  ///< in bytes

  bool operator==(const Location &) const = default;
};

struct BoundStep {
  const Step *step = nullptr; ///< a copy that binding inserted has the step it was made for
  std::unique_ptr<BoundKernel> kernel;
  std::vector<Location> operands;
  std::vector<Location> results;
  Location scratch;
  StepWork work;
};

struct BoundOutput {
  TensorDesc desc;
  int32_t buffer = -1;               ///< of kind Output, or that of an input that may be overwritten
  std::optional<ScalarValue> scalar; ///< of a symbolic number; there is no buffer then
};

/// A result of the prologue that later steps need.
struct KeptValue {
  ValueId value = kNoValue;
  TensorDesc desc;
  Location location;
  std::optional<ScalarValue> scalar;
};

/// Immutable: several threads may run it at once, each with memory of its own.
class Binding {
public:
  /// Binds the function's steps. `inputs` has an entry for each of Function::inputs that has a value.
  static Result<std::shared_ptr<const Binding>> bind(const BindEnvironment &environment,
                                                     std::span<const InputDesc> inputs);
  /// Binds the steps that depend on constants only. Results needed later are in kept(), in Output buffers.
  static Result<std::shared_ptr<const Binding>> bindPrologue(const BindEnvironment &environment);

  /// Runs all steps. `bases` has the address of each buffer; those of arena buffers are set by arenaBases.
  Status run(std::span<std::byte *const> bases) const;
  /// Fills in the addresses of arena and constant buffers.
  void placeBuffers(std::byte *arena, std::span<std::byte *> bases) const;

  const std::vector<Buffer> &buffers() const { return allBuffers; }
  const std::vector<BoundStep> &steps() const { return boundSteps; }
  /// One for each of Function::outputs that has a value.
  const std::vector<BoundOutput> &outputs() const { return boundOutputs; }
  const std::vector<KeptValue> &kept() const { return keptValues; }
  /// The NextState buffers: each has a state's new value after the call.
  const std::vector<int32_t> &replacedStates() const { return nextStates; }

  size_t arenaBytes() const { return arenaSize; }
  /// What intermediate values would take if no memory were shared.
  size_t unsharedBytes() const { return unsharedSize; }

private:
  friend class Binder;

  std::vector<Buffer> allBuffers;
  std::vector<BoundStep> boundSteps;
  std::vector<BoundOutput> boundOutputs;
  std::vector<KeptValue> keptValues;
  std::vector<int32_t> nextStates;
  size_t maxPointers = 0;
  size_t arenaSize = 0;
  size_t unsharedSize = 0;
};

/// "`matmul` (node `linear_1`, model.py:12)", for messages.
std::string stepText(const Step &step);

} // namespace ingot
