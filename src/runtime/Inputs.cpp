#include "runtime/Inputs.h"

#include "base/Symbols.h"
#include "runtime/TensorDesc.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace ingot {
namespace {

size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t(0));
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string nameList(const std::vector<const Input *> &inputs) {
  std::string text;
  for (const Input *input : inputs)
    text += (text.empty() ? "`" : ", `") + input->name + "`";
  return text.empty() ? "none" : text;
}

class InputChecker {
public:
  explicit InputChecker(const Function &function) : function(function), inputs(givenInputs(function)) {}

  Status run(std::span<const TensorView> given) {
    INGOT_CHECK(checkCount(given.size()));
    for (size_t i = 0; i < inputs.size(); ++i)
      INGOT_CHECK(checkType(*inputs[i], given[i]));
    // Plain symbols first: expressions need their values.
    for (size_t i = 0; i < inputs.size(); ++i) {
      INGOT_CHECK(forEachDim(*inputs[i], given[i], &InputChecker::bindSymbol));
      INGOT_CHECK(bindNumber(*inputs[i], given[i]));
    }
    for (size_t i = 0; i < inputs.size(); ++i)
      INGOT_CHECK(forEachDim(*inputs[i], given[i], &InputChecker::checkDim));
    for (const SymbolRange &range : function.symbols)
      INGOT_CHECK(checkExpression(range));
    return {};
  }

private:
  struct Dim {
    const Input &input;
    size_t axis;
    int64_t size;
    const std::string &expression;
  };

  /// "dim `seq` of input `ids` is 700, allowed 1 to 512 (dimension 1)".
  static Error badDim(const Dim &dim, const std::string &what) {
    bool isNamed = dim.expression.empty() || !symbolsIn(dim.expression).empty();
    std::string number = std::to_string(dim.axis);
    return usageError("dim " + (isNamed ? "`" + dim.expression + "`" : number) + " of input `" + dim.input.name +
                      "` is " + std::to_string(dim.size) + ", " + what +
                      (isNamed ? " (dimension " + number + ")" : ""));
  }

  Status checkCount(size_t given) const {
    if (given == inputs.size())
      return {};
    std::string text = "`" + function.name + "` takes " + std::to_string(inputs.size()) + " inputs (" +
                       nameList(inputs) + "), got " + std::to_string(given);
    if (given < inputs.size())
      text += "; missing input `" + inputs[given]->name + "`";
    return usageError(std::move(text));
  }

  Status checkType(const Input &input, const TensorView &given) const {
    const Value &type = function.values[static_cast<size_t>(input.value)];
    std::string prefix = "input `" + input.name + "`: ";
    if (given.desc.dtype != type.dtype)
      return usageError(prefix + "expected dtype " + std::string(dtypeName(type.dtype)) + ", got " +
                        std::string(dtypeName(given.desc.dtype)));
    if (given.desc.sizes.size() != type.shape.size())
      return usageError(prefix + "expected " + std::to_string(type.shape.size()) + " dims " + dimsText(input, type) +
                        ", got " + shapeText(given.desc.sizes));
    std::optional<Extent> extent = checkedExtent(given.desc);
    if (!extent)
      return usageError(prefix + "sizes " + shapeText(given.desc.sizes) + " and strides " +
                        shapeText(given.desc.strides) + " are impossible");
    if (!given.data && extent->end > extent->begin)
      return usageError(prefix + "the data pointer is null");
    for (size_t i = 0; i < type.shape.size(); ++i)
      if (type.shape[i] != kDynamic && type.shape[i] != given.desc.sizes[i])
        return badDim({input, i, given.desc.sizes[i], std::to_string(type.shape[i])},
                      "expected " + std::to_string(type.shape[i]));
    return {};
  }

  static std::string dimsText(const Input &input, const Value &type) {
    if (input.dims.empty())
      return shapeText(type.shape);
    std::string text = "[";
    for (const std::string &dim : input.dims)
      text += (text.size() > 1 ? ", " : "") + dim;
    return text + "]";
  }

  Status forEachDim(const Input &input, const TensorView &given, Status (InputChecker::*visit)(const Dim &)) {
    for (size_t i = 0; i < input.dims.size(); ++i)
      INGOT_CHECK((this->*visit)({input, i, given.desc.sizes[i], input.dims[i]}));
    return {};
  }

  static bool isPlainSymbol(const std::string &expression) {
    auto names = symbolsIn(expression);
    return names.size() == 1 && *names.begin() == expression;
  }

  Status bindSymbol(const Dim &dim) {
    return isPlainSymbol(dim.expression) ? setSymbol(dim, dim.expression, dim.size) : Status{};
  }

  /// A whole number that is an argument.
  Status bindNumber(const Input &input, const TensorView &given) {
    const Value &type = function.values[static_cast<size_t>(input.value)];
    if (type.kind != ValueKind::Scalar || type.dtype != DType::Int64 || !isPlainSymbol(input.symbol))
      return {};
    int64_t value = 0;
    std::memcpy(&value, given.data, sizeof(value));
    const auto [it, isNew] = symbols.emplace(input.symbol, value);
    const std::string start = "input `" + input.name + "` is " + std::to_string(value) + ", ";
    if (!isNew && it->second != value)
      return usageError(start + "but `" + input.symbol + "` is " + std::to_string(it->second) + " in " +
                        origins[input.symbol]);
    origins[input.symbol] = "input `" + input.name + "`";
    const SymbolRange *range = rangeOf(input.symbol);
    if (!range || (value >= (range->min <= kLeastAssumed ? INT64_MIN : range->min) && value <= range->max))
      return {};
    return usageError(start + allowedBy(*range));
  }

  Status checkDim(const Dim &dim) {
    if (isPlainSymbol(dim.expression))
      return {};
    std::string unknown;
    size_t unknownCount = 0;
    for (const std::string &name : symbolsIn(dim.expression)) {
      if (symbols.contains(name))
        continue;
      unknown = name;
      ++unknownCount;
    }
    if (unknownCount == 1) {
      std::optional<int64_t> solution = solveFor(dim.expression, unknown, dim.size, symbols);
      return solution ? setSymbol(dim, unknown, *solution) : Status{};
    }
    std::optional<int64_t> expected = evaluate(dim.expression, symbols);
    if (unknownCount == 0 && expected && *expected != dim.size)
      return badDim(dim, "expected " + std::to_string(*expected));
    return {};
  }

  /// A range may also be that of an expression: what the program was exported for. Other sizes would give wrong results.
  Status checkExpression(const SymbolRange &range) const {
    std::optional<int64_t> value = evaluate(range.symbol, symbols);
    if (isPlainSymbol(range.symbol) || !value || (*value >= range.min && *value <= range.max))
      return {};
    std::string sizes;
    for (const auto &[symbol, size] : symbols)
      sizes += (sizes.empty() ? "" : ", ") + symbol + " = " + std::to_string(size);
    if (range.min != range.max)
      return usageError("`" + range.symbol + "` is " + std::to_string(*value) + " for " + sizes + ", " +
                        allowedBy(range));
    if (isCondition(range.symbol))
      return usageError("the program was exported for sizes with " + range.symbol + ", which is not so for " + sizes)
          .note("export it with an example of these sizes");
    return usageError("the program was exported for sizes with " + range.symbol + " = " + std::to_string(range.min) +
                      ", which is " + std::to_string(*value) + " for " + sizes)
        .note("export it with an example of these sizes");
  }

  Status setSymbol(const Dim &dim, const std::string &symbol, int64_t value) {
    auto [it, isNew] = symbols.emplace(symbol, value);
    if (!isNew) {
      if (it->second == value)
        return {};
      return badDim(dim, "but `" + symbol + "` is " + std::to_string(it->second) + " in " + origins[symbol]);
    }
    origins[symbol] = "dim " + std::to_string(dim.axis) + " of input `" + dim.input.name + "`";
    const SymbolRange *range = rangeOf(symbol);
    if (!range || (value >= (range->min <= kLeastAssumed ? 0 : range->min) && value <= range->max))
      return {};
    std::string of = symbol == dim.expression ? "" : "`" + symbol + "` = " + std::to_string(value) + ", ";
    return badDim(dim, of + allowedBy(*range));
  }

  const SymbolRange *rangeOf(const std::string &symbol) const {
    auto range = std::ranges::find(function.symbols, symbol, &SymbolRange::symbol);
    return range == function.symbols.end() ? nullptr : &*range;
  }

  static std::string allowedBy(const SymbolRange &range) {
    return "allowed " + std::to_string(range.min) +
           (range.max == INT64_MAX ? " or more" : " to " + std::to_string(range.max));
  }

  /// torch.export gives sizes a lower bound of 2 where it only assumed that they are not 0 or 1, and does not enforce it.
  static constexpr int64_t kLeastAssumed = 2;

  const Function &function;
  std::vector<const Input *> inputs;
  SymbolValues symbols;
  std::map<std::string, std::string> origins;
};

} // namespace

std::vector<const Input *> givenInputs(const Function &function) {
  std::vector<const Input *> inputs;
  for (const Input &input : function.inputs)
    if (input.value != kNoValue)
      inputs.push_back(&input);
  return inputs;
}

Status checkInputs(const Function &function, std::span<const TensorView> inputs) {
  return InputChecker(function).run(inputs);
}

Result<std::vector<TensorView>> orderInputs(const Function &function, std::span<const NamedTensor> inputs) {
  std::vector<const Input *> expected = givenInputs(function);
  std::vector<std::string_view> names;
  for (const Input *input : expected)
    names.push_back(input->name);
  std::vector<const NamedTensor *> found(expected.size());
  for (const NamedTensor &given : inputs) {
    auto it = std::ranges::find(names, given.name);
    if (it == names.end())
      return usageError("unknown input name `" + std::string(given.name) + "`" + suggestion(given.name, names) + " (`" +
                        function.name + "` takes " + nameList(expected) + ")");
    const NamedTensor *&slot = found[static_cast<size_t>(it - names.begin())];
    if (slot)
      return usageError("input `" + std::string(given.name) + "` is given twice");
    slot = &given;
  }
  std::vector<TensorView> ordered;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!found[i])
      return usageError("missing input `" + expected[i]->name + "`");
    ordered.push_back(found[i]->tensor);
  }
  return ordered;
}

std::string suggestion(std::string_view name, std::span<const std::string_view> known) {
  std::string_view best;
  size_t bestDistance = std::max<size_t>(2, name.size() / 3) + 1;
  for (std::string_view candidate : known) {
    size_t distance = editDistance(name, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best.empty() ? "" : "; did you mean `" + std::string(best) + "`?";
}

} // namespace ingot
