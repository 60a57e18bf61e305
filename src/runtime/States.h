// The states of a program: named tensors that survive from call to call.
#pragma once

#include "base/ForkSafeMutex.h"
#include "runtime/Cancel.h"
#include "runtime/Program.h"

#include <array>

namespace ingot {

/// One value for each state of a plan, arguments excepted. Functions of one program share them by name; a program has a
/// set of its own, and every session another.
class States {
public:
  /// Allocates every state of the plan and gives it its initial value.
  Status create(const ProgramSource &source);
  /// Gives every state its initial value.
  Status reset();
  /// A copy of a state's value.
  Result<OutputTensor> read(std::string_view name) const;
  Status write(std::string_view name, const TensorView &value);

  /// The number of the state `name`.
  std::optional<size_t> find(std::string_view name) const;
  std::vector<std::string> names() const;
  const TensorDesc &desc(size_t state) const { return slots[state].desc; }

  /// Of the calls that use these states.
  Cancellation &cancellation() { return cancelled; }

  /// Held while a call reads and replaces states. A process that forks during the call has what the call has done so far.
  /// An error where a call of this thread has them, which would wait for itself: handlers of signals and operators of the
  /// caller's run in the middle of one.
  Result<std::unique_lock<ForkFreedMutex>> lock() const;

  // Only with the lock held.
  std::byte *current(size_t state) const { return slots[state].current().get(); }
  /// Memory for the value after the call; null when there is none.
  std::byte *next(size_t state);
  void replace(size_t state) { slots[state].isSwapped = !slots[state].isSwapped; }

private:
  struct Slot {
    std::string name;
    TensorDesc desc;
    size_t bytes = 0;
    std::span<const std::byte> initial;
    std::array<std::shared_ptr<std::byte>, 2> blocks;
    bool isSwapped = false; ///< one store replaces the value: a fork sees the old or the new one

    const std::shared_ptr<std::byte> &current() const { return blocks[isSwapped ? 1 : 0]; }
    std::shared_ptr<std::byte> &next() { return blocks[isSwapped ? 0 : 1]; }
  };

  Result<size_t> require(std::string_view name) const;
  Status add(const Function &function, const State &state, const ProgramSource &source);

  mutable ForkFreedMutex mutex;
  Cancellation cancelled;
  std::vector<Slot> slots;
};

/// 64-byte aligned memory; an Io error when there is none.
Result<std::shared_ptr<std::byte>> allocateBlock(size_t bytes);

/// The weight of a plan, checked against the type the plan gives it.
Result<WeightView> checkedWeight(const ProgramSource &source, const std::string &key, const Value &type);

} // namespace ingot
