// How a Binding is made. Only Binding.cpp, Binder.cpp, StateOrder.cpp and InPlace.cpp use this.
#pragma once

#include "runtime/Binding.h"

namespace ingot {

/// Whether a tensor or number is what the plan says of the value.
bool fitsType(const Value &type, const TensorDesc &desc);
bool fitsType(const Value &type, const ScalarValue &scalar);

/// A step whose shapes are known and whose kernel is not bound yet.
struct DraftStep {
  const Step *step = nullptr;
  const KernelDef *kernel = nullptr;
  bool isCopy = false; ///< inserted by the binder
  std::vector<BoundOperand> operands;
  std::vector<Location> operandAt;
  std::vector<Value> resultTypes;
  std::vector<ResultDesc> results;
  std::vector<Location> resultAt;

  /// Whether there is anything to do while running.
  bool needsKernel() const;
  bool mayWriteOver(size_t operand) const;
};

/// A step that copies `source` into contiguous memory at `target`.
DraftStep copyDraft(const BoundOperand &source, Location sourceAt, Location target, const Step &reason);

/// The same elements at the same places: strides of dimensions of size 1 do not count.
bool sameLayout(const TensorDesc &a, const TensorDesc &b);

/// Puts what reads the old content of a state before what changes it, so that it can be changed in place; where that
/// cannot be, copies the part that is read. Only a matter of speed: shareInPlace checks what it does.
void readBeforeWriting(std::vector<DraftStep> &drafts, std::vector<Buffer> &buffers);

/// Where a place in a merged buffer is. `alias` has for each buffer its place in the one whose memory it has.
Location resolve(std::span<const Location> alias, Location at);

/// Lets results take the memory of operands that nobody reads afterwards. Merged buffers get their place in the
/// remaining one in `alias`; lifetimes are updated.
void shareInPlace(std::span<const DraftStep> drafts, std::vector<Buffer> &buffers, std::vector<Location> &alias);

class Binder {
public:
  explicit Binder(const BindEnvironment &environment)
      : environment(environment), function(environment.function), values(function.values.size()) {}

  Status defineKnown();
  Status defineInputs(std::span<const InputDesc> inputs);
  Status defineStates();
  Status inferSteps(std::span<const Step> steps);
  Status placeOutputs();
  Status placeStates();
  /// Marks the buffers of what later steps need as outputs.
  void keepResults();
  Result<std::shared_ptr<const Binding>> finish();

private:
  struct BoundValue {
    bool isDefined = false;
    TensorDesc desc;
    Location location;
    const void *data = nullptr;
    std::optional<ScalarValue> scalar;
    int32_t contiguousCopy = -1; ///< index into values
  };

  int32_t addBuffer(Buffer buffer);
  int32_t currentStep() const { return static_cast<int32_t>(drafts.size()); }
  BoundOperand operandOf(const BoundValue &value) const;
  Result<int32_t> addCopy(const BoundValue &source, Buffer target, const Step &reason);
  Result<int32_t> makeContiguous(int32_t value, const Step &reason);
  Result<int32_t> copyConstant(const BoundValue &source);
  Status inferStep(const Step &step);
  Status takeOperands(const Step &step, DraftStep &draft);
  Status takeResults(DraftStep &draft);
  Status takeResult(const DraftStep &draft, size_t index, BoundValue &value);
  Status placeView(const DraftStep &draft, const ResultDesc &result, BoundValue &value) const;
  bool isWholeBuffer(const BoundValue &value) const;
  Result<int32_t> claimBuffer(int32_t value, BufferKind kind, int32_t index);
  void recordUses();
  Status bindKernels(Binding &binding);
  Status placeArena(Binding &binding);

  const BindEnvironment &environment;
  const Function &function;
  std::vector<BoundValue> values; ///< the function's, then contiguous copies
  std::vector<Buffer> buffers;
  std::vector<Location> alias; ///< buffer -> its place in the buffer whose memory it has
  std::vector<DraftStep> drafts;
  std::vector<BoundOutput> outputs;
  std::vector<KeptValue> kept;
};

} // namespace ingot
