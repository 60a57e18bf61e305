#include "pipeline/EntryNames.h"

#include "dialect/Conventions.h"
#include "import/GraphImporter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>

using namespace mlir;

namespace ingot {
namespace {

/// Written buffers by the names of their states.
class StateTable {
public:
  explicit StateTable(const WeightTable &weights) : weights(weights) {}

  Status add(func::FuncOp func) {
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      if (auto name = func.getArgAttrOfType<StringAttr>(i, attr::kState))
        INGOT_CHECK(add(func, i, name.str()));
    return {};
  }

  /// Entry points that only read a buffer which another writes read the state.
  Status share(ArrayRef<func::FuncOp> funcs) {
    for (const auto &[name, state] : states)
      for (func::FuncOp func : funcs)
        if (state.initial && func != state.func) {
          INGOT_CHECK(checkApart(func, state.initial.str(), state.func));
          readState(func, name, state.initial);
        }
    return {};
  }

private:
  /// The weight becomes an argument that is given back as it is.
  static void readState(func::FuncOp func, const std::string &name, StringAttr key) {
    Value content;
    for (auto weight : llvm::make_early_inc_range(func.getOps<WeightOp>())) {
      if (weight.getKeyAttr() != key || weight->use_empty())
        continue;
      if (!content)
        content = addState(func, name, key, weight);
      weight.replaceAllUsesWith(content);
      weight.erase();
    }
  }

  static Value addState(func::FuncOp func, const std::string &name, StringAttr key, WeightOp weight) {
    Builder builder(func.getContext());
    const unsigned argument = func.getNumArguments(), result = func.getNumResults();
    const StringAttr text = builder.getStringAttr(name);
    func.insertArgument(
        argument, weight.getType(),
        builder.getDictionaryAttr({builder.getNamedAttr(attr::kName, text), builder.getNamedAttr(attr::kState, text),
                                   builder.getNamedAttr(attr::kInitial, key)}),
        weight.getLoc());
    func.insertResult(result, weight.getType(), builder.getDictionaryAttr(builder.getNamedAttr(attr::kState, text)));
    func.getBody().front().getTerminator()->insertOperands(result, func.getArgument(argument));
    return func.getArgument(argument);
  }

  struct State {
    func::FuncOp func;
    Type type;
    StringAttr initial; ///< key of the weight
  };

  Status add(func::FuncOp func, unsigned argument, const std::string &name) {
    State state{func, func.getArgument(argument).getType(),
                func.getArgAttrOfType<StringAttr>(argument, attr::kInitial)};
    if (state.initial)
      INGOT_CHECK(checkApart(func, state.initial.str(), func));
    auto [known, isNew] = states.try_emplace(name, state);
    if (isNew)
      return {};
    State &other = known->second;
    const char *difference = other.type != state.type                      ? "types or shapes"
                             : !hasSameValue(other.initial, state.initial) ? "initial values"
                                                                           : nullptr;
    if (difference)
      return usageError("the entry points '" + other.func.getSymName().str() + "' and '" + func.getSymName().str() +
                        "' both have a state '" + name + "', with different " + difference)
          .note("states of one name are shared; give them different state_names");
    func.setArgAttr(argument, attr::kInitial, other.initial);
    return {};
  }

  /// A write to one of two views of the same memory would have to be seen in the other.
  Status checkApart(func::FuncOp func, const std::string &written, func::FuncOp writer) const {
    for (const std::string &other : weights.neighbours(written))
      if (isUsed(func, other))
        return unsupportedError("'" + written + "' and '" + other + "' share memory, and `" +
                                writer.getSymName().str() + "` writes to '" + written + "'")
            .note("register one buffer, and make the other from it where it is used: `self.row = self.table[1]` is "
                  "`row = self.table[1]` in forward()");
    return {};
  }

  static bool isUsed(func::FuncOp func, const std::string &weight) {
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      if (auto initial = func.getArgAttrOfType<StringAttr>(i, attr::kInitial); initial && initial.str() == weight)
        return true;
    return func
        .walk([&](WeightOp op) {
          return op.getKey() == weight && !op->use_empty() ? WalkResult::interrupt() : WalkResult::advance();
        })
        .wasInterrupted();
  }

  bool hasSameValue(StringAttr a, StringAttr b) const {
    if (a == b)
      return true;
    const pt2::Weight *left = a ? weights.find(a.str()) : nullptr, *right = b ? weights.find(b.str()) : nullptr;
    if (!left || !right || left->strides != right->strides)
      return false;
    return std::ranges::equal(bytes(*left), bytes(*right));
  }

  static std::span<const std::byte> bytes(const pt2::Weight &weight) {
    if (!weight.isContiguous())
      return weight.storage;
    return {weight.data(), static_cast<size_t>(weight.elementCount()) * byteSize(weight.dtype)};
  }

  const WeightTable &weights;
  std::map<std::string, State> states;
};

/// The placeholders of buffers, by the buffers' keys. Tied ones are called as the first is.
Result<std::map<std::string, std::string>> placeholders(const pt2::Program &program, WeightTable &weights) {
  std::map<std::string, std::string> names;
  for (const pt2::InputSpec &input : program.signature.inputs)
    if (input.kind == pt2::InputKind::Buffer) {
      INGOT_TRY(std::string key, weights.add(program, input)); // it is there: the program was imported
      names.try_emplace(key, valueName(input.value));
    }
  return names;
}

} // namespace

Status nameEntries(const Parts &parts, ModuleOp module, WeightTable &weights) {
  StateTable states(weights);
  SmallVector<func::FuncOp> funcs;
  for (const EntryPart &entry : parts.entries) {
    auto func = module.lookupSymbol<func::FuncOp>(entry.name);
    funcs.push_back(func);
    IoNames names = entry.names;
    if (entry.hasPlaceholderNames) {
      INGOT_TRY(names.buffers, placeholders(*entry.program, weights));
    }
    INGOT_CHECK(applyNames(func, names));
    INGOT_CHECK(states.add(func));
  }
  return states.share(funcs);
}

} // namespace ingot
