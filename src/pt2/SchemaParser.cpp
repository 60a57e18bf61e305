// A recursive-descent parser of torch's schema strings, e.g.
//   aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
#include "pt2/Schema.h"

#include <algorithm>
#include <charconv>
#include <limits>

using namespace ingot;
using namespace ingot::pt2;

namespace {

struct TypeRow {
  std::string_view name;
  TypeKind kind;
};

constexpr TypeRow typeRows[] = {
    {"Tensor", TypeKind::Tensor},
    {"int", TypeKind::Int},
    {"SymInt", TypeKind::SymInt},
    {"float", TypeKind::Float},
    {"bool", TypeKind::Bool},
    {"SymBool", TypeKind::SymBool},
    {"Scalar", TypeKind::Scalar},
    {"number", TypeKind::Scalar},
    {"complex", TypeKind::Complex},
    {"str", TypeKind::String},
    {"ScalarType", TypeKind::ScalarType},
    {"Layout", TypeKind::Layout},
    {"MemoryFormat", TypeKind::MemoryFormat},
    {"Device", TypeKind::Device},
    {"Generator", TypeKind::Generator},
    {"Storage", TypeKind::Storage},
    {"Stream", TypeKind::Stream},
    {"Any", TypeKind::Any},
};

// Defaults of enumerations are printed as c10's numbers, which differ from those in .pt2 files.
struct C10DType {
  int64_t code;
  DType dtype;
};
constexpr C10DType c10DTypes[] = {
    {0, DType::UInt8},     {1, DType::Int8},      {2, DType::Int16},       {3, DType::Int32},
    {4, DType::Int64},     {5, DType::Float16},   {6, DType::Float32},     {7, DType::Float64},
    {8, DType::Complex32}, {9, DType::Complex64}, {10, DType::Complex128}, {11, DType::Bool},
    {15, DType::BFloat16}, {27, DType::UInt16},   {28, DType::UInt32},     {29, DType::UInt64},
};
constexpr pt2::MemoryFormat c10MemoryFormats[] = {pt2::MemoryFormat::Contiguous, pt2::MemoryFormat::Preserve,
                                                  pt2::MemoryFormat::ChannelsLast, pt2::MemoryFormat::ChannelsLast3d};

constexpr size_t maxDepth = 16;
constexpr size_t maxListLength = 64;

class SchemaParser {
public:
  explicit SchemaParser(std::string_view text) : text(text), rest(text) {}

  Result<OpSchema> parse() {
    OpSchema schema;
    parseName(schema);
    parseArguments(schema);
    expect("->");
    parseReturns(schema);
    skipBlanks();
    if (!failed && !rest.empty())
      fail("unexpected text behind the schema");
    if (failed)
      return corruptError("bad operator schema '" + std::string(text) + "': " + reason + " at column " +
                          std::to_string(column));
    return schema;
  }

private:
  // The first failure is kept; afterwards nothing matches any more, so every loop ends.
  void fail(std::string why) {
    if (failed)
      return;
    failed = true;
    reason = std::move(why);
    column = text.size() - rest.size() + 1;
    rest = {};
  }

  void skipBlanks() { rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size())); }

  bool peek(std::string_view token) {
    skipBlanks();
    return rest.starts_with(token);
  }

  bool take(std::string_view token) {
    if (failed || !peek(token))
      return false;
    rest.remove_prefix(token.size());
    return true;
  }

  void expect(std::string_view token) {
    if (!take(token))
      fail("expected '" + std::string(token) + "'");
  }

  static bool isWordChar(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  }

  /// Letters, digits, underscores, and the characters of `extra`.
  std::string_view word(std::string_view extra = "") {
    skipBlanks();
    size_t length = 0;
    while (length < rest.size() && (isWordChar(rest[length]) || extra.find(rest[length]) != extra.npos))
      ++length;
    std::string_view found = rest.substr(0, length);
    rest.remove_prefix(length);
    if (found.empty())
      fail("expected a name");
    return found;
  }

  void parseName(OpSchema &schema) {
    std::string_view full = word(":.");
    size_t colons = full.find("::");
    if (colons == full.npos)
      return fail("expected a namespace");
    size_t dot = full.find('.', colons);
    schema.name = full.substr(0, dot);
    if (dot != full.npos)
      schema.overload = full.substr(dot + 1);
  }

  void parseArguments(OpSchema &schema) {
    expect("(");
    if (take(")"))
      return;
    bool keywordOnly = false;
    do {
      if (take("...")) {
        schema.hasVarArgs = true;
      } else if (take("*")) {
        keywordOnly = true;
      } else {
        schema.arguments.push_back(parseArgument(schema.arguments.size()));
        schema.arguments.back().keywordOnly = keywordOnly;
      }
    } while (take(","));
    expect(")");
  }

  SchemaArgument parseArgument(size_t index) {
    SchemaArgument argument;
    argument.type = parseType(argument.alias, 0);
    skipBlanks();
    // TorchBind methods leave names out.
    if (!rest.empty() && isWordChar(rest.front()))
      argument.name = word();
    else
      argument.name = "_" + std::to_string(index);
    if (take("="))
      argument.defaultValue = parseDefault(argument.type);
    return argument;
  }

  void parseReturns(OpSchema &schema) {
    if (take("...")) {
      schema.hasVarReturns = true;
      return;
    }
    if (!take("(")) {
      schema.returns.push_back(parseReturn());
      return;
    }
    if (take(")"))
      return;
    do {
      if (take("..."))
        schema.hasVarReturns = true;
      else
        schema.returns.push_back(parseReturn());
    } while (take(","));
    expect(")");
  }

  SchemaReturn parseReturn() {
    SchemaReturn value;
    value.type = parseType(value.alias, 0);
    skipBlanks();
    if (!rest.empty() && isWordChar(rest.front()))
      value.name = word();
    return value;
  }

  SchemaType parseType(std::optional<AliasInfo> &alias, size_t depth) {
    SchemaType type = parseBaseType(depth);
    // Annotations stand before or behind the brackets: `Tensor(a!)[]`, `Tensor[](a!)`.
    while (!failed) {
      if (!alias && rest.starts_with("("))
        alias = parseAlias();
      else if (rest.starts_with("?")) {
        rest.remove_prefix(1);
        type.suffixes.push_back({SchemaType::Suffix::Optional, std::nullopt});
      } else if (rest.starts_with("["))
        type.suffixes.push_back(parseListSuffix());
      else
        break;
    }
    return type;
  }

  SchemaType parseBaseType(size_t depth) {
    SchemaType type;
    if (depth > maxDepth) {
      fail("types nested too deeply");
      return type;
    }
    std::string_view name = peek("(") ? "" : word(".");
    for (const TypeRow &row : typeRows)
      if (row.name == name) {
        type.base = row.kind;
        return type;
      }
    type.base = TypeKind::Class;
    type.className = name;
    // Containers that name their contents: `Dict(str, Tensor)`, `(int, Tensor)`.
    if (name.empty() || name == "Dict" || name == "Future" || name == "RRef" || name == "Await")
      type.className += parseTypeArguments(depth + 1);
    return type;
  }

  std::string parseTypeArguments(size_t depth) {
    std::string inner = "(";
    expect("(");
    do {
      std::optional<AliasInfo> ignored;
      inner += (inner.size() > 1 ? ", " : "") + parseType(ignored, depth).str();
    } while (take(","));
    expect(")");
    return inner + ")";
  }

  SchemaType::Suffix parseListSuffix() {
    expect("[");
    SchemaType::Suffix suffix{SchemaType::Suffix::List, std::nullopt};
    if (take("]"))
      return suffix;
    std::optional<int64_t> length = integerFrom(word());
    expect("]");
    if (!length || *length < 0 || static_cast<size_t>(*length) > maxListLength)
      fail("bad list length");
    suffix.length = length;
    return suffix;
  }

  std::vector<std::string> parseSets(bool &isWrite) {
    std::vector<std::string> sets;
    do {
      if (take("*"))
        sets.push_back("*");
      else
        sets.emplace_back(word());
      isWrite |= take("!");
    } while (take("|"));
    return sets;
  }

  AliasInfo parseAlias() {
    AliasInfo alias;
    expect("(");
    alias.sets = parseSets(alias.isWrite);
    bool ignored = false;
    alias.setsAfter = take("->") ? parseSets(ignored) : alias.sets;
    expect(")");
    return alias;
  }

  static std::optional<int64_t> integerFrom(std::string_view digits) {
    int64_t value = 0;
    const char *end = digits.data() + digits.size();
    auto [stop, failure] = std::from_chars(digits.data(), end, value);
    if (digits.empty() || failure != std::errc() || stop != end)
      return std::nullopt;
    return value;
  }

  static std::optional<double> realFrom(std::string_view digits) {
    if (digits == "inf")
      return std::numeric_limits<double>::infinity();
    if (digits == "-inf")
      return -std::numeric_limits<double>::infinity();
    if (digits == "nan")
      return std::numeric_limits<double>::quiet_NaN();
    double value = 0;
    const char *end = digits.data() + digits.size();
    auto [stop, failure] = std::from_chars(digits.data(), end, value);
    if (digits.empty() || failure != std::errc() || stop != end)
      return std::nullopt;
    return value;
  }

  Argument parseDefault(const SchemaType &type) {
    if (take("None"))
      return Argument::makeNone();
    if (!type.isList())
      return parseScalarDefault(type.base);
    std::vector<Argument> items;
    if (!take("[")) {
      // One number stands for all elements of a fixed-size list.
      items.assign(type.listLength().value_or(1), parseScalarDefault(type.base));
    } else if (!take("]")) {
      do {
        items.push_back(parseScalarDefault(type.base));
      } while (take(","));
      expect("]");
    }
    return makeList(type.base, items);
  }

  Argument makeList(TypeKind base, const std::vector<Argument> &items) {
    if (failed)
      return {};
    if (base == TypeKind::Int || base == TypeKind::SymInt) {
      std::vector<int64_t> values;
      for (const Argument &item : items)
        values.push_back(item.asInt());
      return Argument::makeInts(std::move(values));
    }
    if (base == TypeKind::Float) {
      std::vector<double> values;
      for (const Argument &item : items)
        values.push_back(item.asFloat());
      return Argument::makeFloats(std::move(values));
    }
    if (base == TypeKind::Bool) {
      std::vector<bool> values;
      for (const Argument &item : items)
        values.push_back(item.asBool());
      return Argument::makeBools(std::move(values));
    }
    if (base == TypeKind::String) {
      std::vector<std::string> values;
      for (const Argument &item : items)
        values.push_back(item.asString());
      return Argument::makeStrings(std::move(values));
    }
    if (!items.empty())
      fail("lists of this type have no default");
    return Argument::makeTensors();
  }

  Argument parseScalarDefault(TypeKind base) {
    if (base == TypeKind::String || base == TypeKind::Device)
      return parseStringDefault(base);
    std::string_view digits = word("+-.");
    if (base == TypeKind::Bool && (digits == "True" || digits == "False"))
      return Argument::makeBool(digits == "True");
    std::optional<int64_t> integer = integerFrom(digits);
    std::optional<double> real = realFrom(digits);
    bool isInteger = base == TypeKind::Int || base == TypeKind::SymInt;
    if (integer && (isInteger || base == TypeKind::Scalar))
      return Argument::makeInt(*integer);
    if (real && (base == TypeKind::Float || base == TypeKind::Scalar))
      return Argument::makeFloat(*real);
    if (base == TypeKind::Scalar && (digits == "True" || digits == "False"))
      return Argument::makeBool(digits == "True");
    return parseEnumDefault(base, digits, integer.value_or(-1));
  }

  Argument parseEnumDefault(TypeKind base, std::string_view name, int64_t code) {
    if (base == TypeKind::ScalarType) {
      for (const C10DType &row : c10DTypes)
        if (row.code == code)
          return Argument::makeScalarType(row.dtype);
      if (std::optional<DType> dtype = dtypeFromName(name))
        return Argument::makeScalarType(*dtype);
    }
    if (base == TypeKind::MemoryFormat) {
      if (name == "contiguous_format")
        return Argument::makeMemoryFormat(pt2::MemoryFormat::Contiguous);
      if (code >= 0 && static_cast<size_t>(code) < std::size(c10MemoryFormats))
        return Argument::makeMemoryFormat(c10MemoryFormats[code]);
    }
    if (base == TypeKind::Layout && (code == 0 || name == "strided"))
      return Argument::makeLayout(pt2::Layout::Strided);
    fail("cannot read the default '" + std::string(name) + "'");
    return {};
  }

  Argument parseStringDefault(TypeKind base) {
    std::string value;
    skipBlanks();
    char quote = rest.empty() ? '\0' : rest.front();
    if (quote != '"' && quote != '\'') {
      fail("expected a quoted text");
      return {};
    }
    size_t i = 1;
    for (; i < rest.size() && rest[i] != quote; ++i) {
      if (rest[i] == '\\' && i + 1 < rest.size())
        ++i;
      value += rest[i];
    }
    if (i >= rest.size()) {
      fail("text without end");
      return {};
    }
    rest.remove_prefix(i + 1);
    if (base == TypeKind::Device)
      return Argument::makeDevice({value, std::nullopt});
    return Argument::makeString(std::move(value));
  }

  std::string_view text, rest;
  bool failed = false;
  std::string reason;
  size_t column = 0;
};

} // namespace

Result<OpSchema> pt2::parseSchema(std::string_view text) { return SchemaParser(text).parse(); }
