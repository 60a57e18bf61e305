// What a loaded program consists of. Private to Program.cpp, Call.cpp and Driver.cpp.
#pragma once

#include "runtime/BindingCache.h"
#include "runtime/KernelLibrary.h"
#include "runtime/MemoryBudget.h"
#include "runtime/MemoryPool.h"
#include "runtime/Packed.h"
#include "runtime/Program.h"
#include "runtime/States.h"

#include <atomic>
#include <map>

namespace ingot {

/// Sizes that a program is called with in turn. A binding holds no intermediate values, only kernels.
constexpr size_t kMaxBindings = 32;

ScalarValue readScalar(DType dtype, const void *data);
void writeScalar(const ScalarValue &scalar, void *data);

/// Whether a function has steps that cannot be planned ahead.
bool runsStepByStep(const Function &function);

/// One function with what was prepared for it.
struct Entry {
  explicit Entry(const Function &function)
      : environment{function, {}, {}, {}}, cache(kMaxBindings), runsStepByStep(ingot::runsStepByStep(function)) {}

  /// Whether its steps are run one by one (Driver.cpp) rather than planned at once.
  bool isDriver() const { return runsStepByStep; }
  const Function &function() const { return environment.function; }

  BindEnvironment environment;
  std::vector<std::shared_ptr<std::byte>> prepared; ///< results of the prologue
  std::vector<std::optional<size_t>> states;        ///< by Function::states: number in States; none for arguments
  BindingCache cache;
  bool runsStepByStep;
};

/// Where a state is during one call.
struct StateMemory {
  std::byte *data = nullptr;
  std::optional<size_t> slot; ///< number in Call::states; none: the caller's memory
};

/// What one call of a function works on.
struct Call {
  std::span<const TensorView> inputs;   ///< one for each of givenInputs
  std::vector<bool> mayOverwrite = {};  ///< by input, as InputDesc::mayOverwrite; empty: none
  std::vector<StateMemory> memory = {}; ///< by Function::states
  States *states = nullptr;

  bool isOverwritable(size_t input) const { return input < mayOverwrite.size() && mayOverwrite[input]; }
};

/// A call from outside: checks what the caller gives as states, and holds what the call needs while it runs.
class UserCall {
public:
  UserCall(const Entry &entry, States &states) : entry(entry), states(states) {}
  Result<const Call *> prepare(std::span<const TensorView> inputs, std::span<const NamedTensor> given);

private:
  Status takeStates(std::span<const NamedTensor> given);
  Status checkState(size_t state, const TensorView &tensor) const;
  Status checkOverlaps() const;
  Status takeInputs(std::span<const TensorView> inputs);
  Status alignInputs(std::span<const TensorView> plain);
  Status separate(const Input &about, TensorView &input);

  const Entry &entry;
  States &states;
  Call call;
  std::vector<const TensorView *> given; ///< by Function::states
  std::vector<TensorView> inputs, aligned;
  std::vector<std::shared_ptr<std::byte>> copies;
  std::unique_lock<ForkFreedMutex> lock;
};

struct Program::Impl {
  ProgramSource source;
  KernelLibrary library;
  States states;
  MemoryPool memory;
  PreparedFile prepared;
  PackedFile packed;
  std::atomic<bool> hasNewKernels = false; ///< since `packed` was saved
  MemoryBudget budget;
  std::vector<std::unique_ptr<Entry>> entries;
  std::string description;

  ForkSafeMutex copiesMutex;
  std::map<std::pair<const void *, BindingKey>, std::shared_ptr<std::byte>> constantCopies;

  Status prepare();
  /// In the order of entry points and their values.
  std::vector<std::span<const std::byte>> constants() const;
  Result<std::unique_ptr<Entry>> prepareEntry(const Function &function);
  Status defineConstants(Entry &entry);
  Result<bool> placePrepared(Entry &entry, const Binding &binding, std::span<std::byte *> bases);
  Status holdStates();
  /// Refuses a function of fixed sizes that would not fit the budget; others are checked when they are called.
  Status checkFixedSizes(Entry &entry);
  Status checkBudget(const Binding &binding, const std::string &what) const;
  Status runPrologue(Entry &entry);
  Result<const void *> contiguousConstant(const void *data, const TensorDesc &desc);
  Result<Entry *> findEntry(std::string_view name) const;
  /// A function that only other functions call; null when there is none of that name.
  Entry *findInternal(std::string_view name) const;
  Result<std::shared_ptr<const Binding>> bind(Entry &entry, const Call &call);
  Result<std::vector<OutputTensor>> allocateOutputs(const Binding &binding, const Call &call);
  /// The addresses of everything that is not in the arena. `made` keeps memory for new values of the caller's states.
  Status placeOutside(const Binding &binding, const Call &call, std::span<const OutputTensor> outputs,
                      std::span<std::byte *> bases, std::vector<std::shared_ptr<std::byte>> &made);
  /// Runs a function whose steps are planned at once.
  Result<std::vector<OutputTensor>> runPlanned(Entry &entry, const Call &call);
  /// Runs a function step by step (Driver.cpp).
  Result<std::vector<OutputTensor>> runDriver(Entry &entry, const Call &call);
  /// An output that lies in an input's memory comes without an owner.
  Result<std::vector<OutputTensor>> runEntry(Entry &entry, const Call &call) {
    return entry.isDriver() ? runDriver(entry, call) : runPlanned(entry, call);
  }
  Status execute(const Binding &binding, const Call &call, std::span<const OutputTensor> outputs);
};

} // namespace ingot
