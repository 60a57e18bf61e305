// What a verification found, for people and for programs.
#pragma once

#include "base/Json.h"
#include "verify/Compare.h"

#include <string>
#include <vector>

namespace ingot::verify {

enum class Verdict {
  Equal,    ///< nothing departs
  Lowering, ///< a node alone, fed with eager's values, departs
  Company,  ///< a node departs among the others, and not alone: fusion, folding or planning
  AddsUp,   ///< no node departs from what it is fed, but rounding has grown beyond reason
  Outputs,  ///< outputs depart; nodes were not looked at, or none of them departs when looked at
};

/// "lowering"
std::string_view verdictName(Verdict verdict);

struct Operand {
  std::string key, type; ///< "x@relu_", "float32 [2, 3]"
};

/// The first node that departs.
struct Departure {
  std::string node, op, value;
  std::string file, function, code, module, moduleType;
  int64_t line = 0;
  Difference difference;
  Statistics eager, ours;
  std::string type; ///< of eager's value
  std::vector<Operand> operands;
  std::string call;    ///< the node as Python
  std::string savedTo; ///< folder that its operands were saved in, or empty
};

struct LeftOut {
  std::string node, op, why;
};

struct Report {
  Verdict verdict = Verdict::Equal;
  std::optional<Departure> departure;
  std::vector<std::string> alsoDeparting; ///< further nodes
  size_t nodes = 0;                       ///< that give tensors
  size_t compared = 0;                    ///< one by one
  size_t runs = 0;                        ///< conversions of the program or of parts of it
  double rounding = 0; ///< largest difference of the outputs, in units of what one operator is allowed
  std::vector<LeftOut> leftOut;
  std::vector<std::string> notes;

  bool isEqual() const { return verdict == Verdict::Equal; }
};

nlohmann::json reportToJson(const Report &report);
std::string reportText(const Report &report);

} // namespace ingot::verify
