// Where the time of a call goes: every step, with the work that its shapes say it is.
#pragma once

#include "runtime/Kernel.h"

#include <chrono>
#include <string>
#include <vector>

namespace ingot {

/// What a step does, whatever the kernel that does it: multiplications and additions of matrix products, convolutions and
/// attention (one for each element of the result elsewhere), and bytes of operands and results.
struct StepWork {
  double operations = 0;
  double bytes = 0;
  bool isCopy = false;     ///< put in by the runtime, because a kernel needs another layout
  int reorders = 0;        ///< copies into another layout: this one, or those that the kernel makes
  std::string problem;     ///< of steps that several methods can compute (Methods.h)
  std::string_view method; ///< the one that does; empty: there is only one
};

StepWork workOf(const Step &step, std::span<const BoundOperand> operands, std::span<const ResultDesc> results);

/// Records the steps of all calls that this thread makes while it lives. Costs two looks at the clock for each step.
class StepProfile {
public:
  using Clock = std::chrono::steady_clock;

  struct Record {
    std::string kernel, node, source;
    StepWork work;
    Clock::time_point begin, end;

    double seconds() const { return std::chrono::duration<double>(end - begin).count(); }
  };

  StepProfile() : outer(active) { active = this; }
  ~StepProfile() { active = outer; }
  StepProfile(const StepProfile &) = delete;
  StepProfile &operator=(const StepProfile &) = delete;

  /// Null while nobody asks.
  static StepProfile *current() { return active; }

  void add(const Step &step, const StepWork &work, Clock::time_point begin) {
    records.push_back({step.kernel, step.node, step.source, work, begin, Clock::now()});
  }

  std::vector<Record> records;

private:
  static thread_local StepProfile *active;
  StepProfile *outer;
};

} // namespace ingot
