// Which of several implementations computes a step: the one that its kernel takes by itself, or one that was faster when all
// of them were measured on this machine (`ingot tune`). All give right results, so that a wrong choice costs nothing but time.
#pragma once

#include "base/Result.h"
#include "runtime/Precision.h"

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace ingot {

struct BoundOperand;
struct Step;

/// Usual: what the kernel takes by itself. A kernel that cannot use the method for a step takes the usual one.
enum class Method : uint8_t { Usual, Panels, Winograd, OneDnn };

std::string_view methodName(Method method);
std::optional<Method> methodNamed(std::string_view name);

/// What a step computes, and under which circumstances: "conv conv2d_3 float32[1, 64, 56, 56] …, 2 threads, highest".
std::string problemText(const Step &step, std::span<const BoundOperand> operands, Precision precision);

/// Methods by problem.
class MethodTable {
public:
  MethodTable() = default;
  /// One for every problem.
  explicit MethodTable(Method everywhere) : fallback(everywhere) {}
  /// What a file has; nothing of one that is damaged, not ours, or about another program than `key` says.
  static MethodTable read(const std::string &path, const std::string &key);

  Status write(const std::string &path, const std::string &key) const;
  Method find(const std::string &problem) const;
  void set(const std::string &problem, Method method);
  bool operator==(const MethodTable &) const = default;

private:
  std::map<std::string, Method> methods;
  Method fallback = Method::Usual;
};

} // namespace ingot
