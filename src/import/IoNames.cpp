#include "import/IoNames.h"

#include "dialect/Conventions.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace ingot {
namespace {

std::string listText(const std::vector<std::string> &names) { return llvm::join(names, ", "); }

class Namer {
public:
  Namer(func::FuncOp func, const IoNames &names) : func(func), names(names), builder(func.getContext()) {
    for (unsigned i = 0; i < func.getNumResults(); ++i)
      if (Attribute name = func.getResultAttr(i, attr::kMutates))
        written.insert(name);
  }

  Status run() {
    INGOT_CHECK(nameInputs());
    INGOT_CHECK(nameStates());
    INGOT_CHECK(nameOutputs());
    return checkUnique();
  }

private:
  Status checkCount(const std::vector<std::string> &current, const std::vector<std::string> &given, const char *what,
                    const char *parameter) const {
    if (given.empty() || given.size() == current.size())
      return {};
    return usageError("Graph has " + std::to_string(current.size()) + " " + what + " (" + listText(current) +
                      "), but " + parameter + " has " + std::to_string(given.size()) + " entries (" + listText(given) +
                      ")");
  }

  std::string argumentText(unsigned argument, StringRef attribute) {
    auto text = func.getArgAttrOfType<StringAttr>(argument, attribute);
    return text ? text.str() : "";
  }

  Status nameInputs();
  Status nameStates();
  Status nameOutputs();
  Status checkUnique() const;
  /// Whether the program writes to the argument, so that it is a state.
  bool isWritten(unsigned argument);
  void renameState(unsigned argument, const std::string &name);
  std::string bufferName(const std::string &buffer, llvm::StringSet<> &taken) const;

  func::FuncOp func;
  const IoNames &names;
  Builder builder;
  llvm::DenseSet<Attribute> written; ///< names of arguments, before any is renamed
  std::vector<std::string> inputs, outputs, states;
};

bool Namer::isWritten(unsigned argument) {
  Attribute name = func.getArgAttr(argument, attr::kName);
  return name && written.contains(name) && !func.getArgAttr(argument, attr::kState);
}

Status Namer::nameInputs() {
  SmallVector<unsigned> arguments;
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (!func.getArgAttr(i, attr::kState) && !isWritten(i)) {
      arguments.push_back(i);
      inputs.push_back(argumentText(i, attr::kName));
    }
  INGOT_CHECK(checkCount(inputs, names.inputs, "live inputs", "input_names"));
  if (names.inputs.empty())
    return {};
  inputs = names.inputs;
  for (auto [argument, name] : llvm::zip_equal(arguments, inputs))
    func.setArgAttr(argument, attr::kName, builder.getStringAttr(name));
  return {};
}

void Namer::renameState(unsigned argument, const std::string &name) {
  // A buffer's state has its name in an attribute of its own; a written argument is called as the argument is.
  Attribute buffer = func.getArgAttr(argument, attr::kState);
  StringRef onResult = buffer ? attr::kState : attr::kMutates;
  Attribute old = buffer ? buffer : func.getArgAttr(argument, attr::kName);
  StringAttr given = builder.getStringAttr(name);
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    if (func.getResultAttr(i, onResult) == old)
      func.setResultAttr(i, onResult, given);
  if (buffer)
    func.setArgAttr(argument, attr::kState, given);
  func.setArgAttr(argument, attr::kName, given);
}

/// Models may call an argument as they call a buffer.
std::string Namer::bufferName(const std::string &buffer, llvm::StringSet<> &taken) const {
  if (auto given = names.buffers.find(buffer); given != names.buffers.end())
    return given->second;
  std::string unique = buffer;
  for (int number = 0; !taken.insert(unique).second; ++number)
    unique = "b_" + buffer + (number > 0 ? "_" + std::to_string(number) : "");
  return unique;
}

Status Namer::nameStates() {
  SmallVector<unsigned> arguments;
  llvm::StringSet<> taken;
  for (unsigned i = 0; i < func.getNumArguments(); ++i)
    if (!func.getArgAttr(i, attr::kState))
      taken.insert(argumentText(i, attr::kName));
  bool isRenamed = false;
  for (bool isBuffer : {true, false})
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      if (isBuffer ? bool(func.getArgAttr(i, attr::kState)) : isWritten(i)) {
        arguments.push_back(i);
        const std::string own = argumentText(i, isBuffer ? attr::kState : attr::kName);
        states.push_back(isBuffer ? bufferName(own, taken) : own);
        isRenamed = isRenamed || states.back() != own;
      }
  INGOT_CHECK(checkCount(states, names.states, "stateful inputs", "state_names"));
  if (names.states.empty() && !isRenamed)
    return {};
  if (!names.states.empty())
    states = names.states;
  // By way of names that nobody has, since two states may swap theirs.
  for (unsigned argument : arguments)
    renameState(argument, "\x01" + std::to_string(argument));
  for (auto [argument, name] : llvm::zip_equal(arguments, states))
    renameState(argument, name);
  return {};
}

Status Namer::nameOutputs() {
  auto flat = func->getAttrOfType<ArrayAttr>(attr::kFlatOutputs);
  if (!flat)
    return {};
  SmallVector<std::string> positions(flat.size());
  llvm::StringSet<> taken;
  llvm::StringMap<int> numbers;
  for (auto [i, entry] : llvm::enumerate(flat)) {
    auto result = dyn_cast<IntegerAttr>(entry);
    if (!result)
      continue;
    auto name = func.getResultAttrOfType<StringAttr>(result.getInt(), attr::kName);
    std::string base = name ? name.str() : "output", unique = base;
    for (int &number = numbers[base]; !taken.insert(unique).second;)
      unique = base + "_" + std::to_string(++number);
    positions[i] = unique;
    outputs.push_back(unique);
  }
  INGOT_CHECK(checkCount(outputs, names.outputs, "live outputs", "output_names"));
  if (!names.outputs.empty()) {
    outputs = names.outputs;
    size_t next = 0;
    for (auto [position, entry] : llvm::zip_equal(positions, flat))
      if (isa<IntegerAttr>(entry))
        position = outputs[next++];
  }
  SmallVector<StringRef> texts(positions.begin(), positions.end());
  func->setAttr(attr::kOutputNames, builder.getStrArrayAttr(texts));
  return {};
}

Status Namer::checkUnique() const {
  auto check = [](const std::vector<std::string> &list, llvm::StringSet<> &taken, const char *what) -> Status {
    for (const std::string &name : list) {
      if (name.empty())
        return usageError(std::string("an empty name for ") + what);
      if (!taken.insert(name).second)
        return usageError("the name '" + name + "' is given twice, here for " + what);
    }
    return {};
  };
  llvm::StringSet<> arguments, results;
  INGOT_CHECK(check(inputs, arguments, "an input"));
  INGOT_CHECK(check(states, arguments, "a state"));
  INGOT_CHECK(check(outputs, results, "an output"));
  if (!names.outputs.empty() || !names.states.empty())
    INGOT_CHECK(check(states, results, "a state that an output is called too"));
  return {};
}

} // namespace

Status applyNames(func::FuncOp func, const IoNames &names) { return Namer(func, names).run(); }

} // namespace ingot
