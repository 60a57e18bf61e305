// A loaded program: weights mapped, constants prepared, ready to be called from any thread.
#pragma once

#include "asset/Intact.h"
#include "runtime/Binding.h"
#include "runtime/Inputs.h"
#include "runtime/Plan.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

/// A weight where it lies; contiguous.
struct WeightView {
  DType dtype = DType::Float32;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
};

/// Everything a program is made from.
struct ProgramSource {
  Plan plan;
  std::function<std::optional<WeightView>(std::string_view key)> findWeight;
  std::string kernelLibrary; ///< path; empty if the plan needs none
  /// Instead of kernelLibrary, for tests.
  std::function<void *(const std::string &symbol)> findSymbol;
  std::shared_ptr<const void> keepAlive; ///< what the weights lie in
  /// Waits for what is still looking at the weights, and says whether they are in order; null: nothing is.
  std::function<Status(asset::IntactFiles &intact)> finishChecks;
  asset::IntactFiles intact; ///< what need not be checked again
  /// A file for what the prologues compute, and what it depends on (Prepared.h); empty: none.
  std::string preparedPath, preparedKey;
  std::string packedPath;                   ///< likewise for the panels that kernels make of constants (Packed.h)
  uint64_t memoryLimit = 0;                 ///< as LoadOptions::memoryLimit
  uint64_t timeLimit = 0;                   ///< as LoadOptions::timeLimit
  Precision precision = Precision::Highest; ///< as LoadOptions::precision
  MethodTable methods = {};                 ///< those that were measured, or LoadOptions::method
};

/// Contiguous memory of its own. Copies share it.
struct OutputTensor {
  TensorDesc desc;
  std::shared_ptr<std::byte> data;
};

/// What a call would take, and what it would take if no memory were shared.
struct MemoryUse {
  size_t arenaBytes = 0;
  size_t unsharedBytes = 0;
};

struct LoadOptions {
  /// Programs that run some of their operators with PyTorch are refused unless this is set.
  bool fallback = false;
  /// Passes to leave out where the asset has to be specialised; such a specialisation is kept apart from others.
  std::vector<std::string> disabledPasses = {};
  /// In bytes, 0: none. Weights, states and prepared constants count, and what one call needs at once: a program, or a
  /// call, that would need more is refused before it starts.
  uint64_t memoryLimit = 0;
  /// In milliseconds, 0: none. A call that takes longer ends with an error, after the step that it is at.
  uint64_t timeLimit = 0;
  /// Of products and convolutions of float32.
  Precision precision = Precision::Highest;
  /// Whether constants that were computed from weights, and weights in the order of the kernels, are kept in the cache for later loads, and
  /// taken from there.
  bool keepsConstants = true;
  /// For every step that can be computed so; none: what was measured on this machine, else the usual one.
  std::optional<Method> method = {};
};

/// Keeps methods for later loads of the asset on this kind of CPU with these options; those of other problems stay.
Status keepMethods(const std::string &assetPath, const LoadOptions &options,
                   const std::vector<std::pair<std::string, Method>> &methods);

class States; ///< States.h

class Program {
public:
  /// Validates the plan, prepares constants and states.
  static Result<std::shared_ptr<Program>> create(ProgramSource source);
  /// Opens an asset; has it specialised for this CPU first if that has not happened yet.
  static Result<std::shared_ptr<Program>> load(const std::string &assetPath, const LoadOptions &options = {});
  ~Program();
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  const Plan &plan() const;
  /// The function of that name; the only one if the name is empty.
  Result<const Function *> entry(std::string_view name) const;

  /// Calls an entry point. `inputs` has an entry for each of its inputs that is neither a literal nor a state, with any
  /// strides; the result one for each output that is no literal. `given` are states in the caller's memory, contiguous:
  /// they are read and changed there, and every state that is an argument must be among them. Other states are those of
  /// `states`, or else the program's own. Calls may overlap; those that share states wait for each other.
  Result<std::vector<OutputTensor>> run(std::string_view entry, std::span<const TensorView> inputs,
                                        std::span<const NamedTensor> given = {}, States *states = nullptr);

  /// The memory a call with these inputs takes; states that are arguments are among them.
  Result<MemoryUse> memoryUse(std::string_view entry, std::span<const TensorView> inputs);

  /// The states that calls use if they name no others.
  States &states() const;
  /// Further states with their initial values, for calls that shall not disturb others. Must not outlive the program.
  Result<std::unique_ptr<States>> newStates() const;

  /// Entry points as JSON text, in the form of an asset's manifest.
  const std::string &description() const;

  struct Impl; ///< ProgramImpl.h

private:
  explicit Program(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl;
};

} // namespace ingot
