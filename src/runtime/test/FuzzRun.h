// Calls every entry point of a program with zeros.
#pragma once

#include "base/Bytes.h"
#include "base/Json.h"
#include "runtime/Program.h"

#include <algorithm>
#include <map>

namespace ingot::fuzz {

/// The sizes of a described shape; nothing for expressions and for what is too large to be worth it.
inline std::optional<std::vector<int64_t>> sizesOf(const nlohmann::json &shape,
                                                   const std::map<std::string, int64_t> &symbols) {
  std::vector<int64_t> sizes;
  for (const nlohmann::json &dim : shape) {
    if (dim.is_number_integer())
      sizes.push_back(dim.get<int64_t>());
    else if (dim.is_string() && symbols.contains(dim.get<std::string>()))
      sizes.push_back(symbols.at(dim.get<std::string>()));
    else
      return std::nullopt;
  }
  std::optional<int64_t> count = checkedElementCount(sizes);
  if (!count || *count > 1 << 16)
    return std::nullopt;
  return sizes;
}

inline void runEntry(Program &program, const nlohmann::json &entry) {
  std::map<std::string, int64_t> symbols;
  for (const nlohmann::json &symbol : entry["symbols"])
    symbols[symbol["name"]] = std::clamp<int64_t>(2, symbol["min"], symbol["max"]);
  static std::vector<std::byte> zeros(size_t(16) << 16);
  std::ranges::fill(zeros, std::byte(0));
  std::vector<TensorView> inputs;
  std::vector<NamedTensor> states;
  std::vector<std::string> names;
  names.reserve(entry["inputs"].size());
  std::vector<std::vector<std::byte>> memory;
  for (const nlohmann::json &port : entry["inputs"]) {
    if (port.contains("literal"))
      continue;
    auto sizes = sizesOf(port["shape"], symbols);
    std::optional<DType> dtype = dtypeFromName(port["dtype"].get<std::string>());
    if (!sizes || !dtype)
      return;
    TensorView view{zeros.data(), TensorDesc::contiguous(*dtype, *std::move(sizes))};
    if (!port.contains("state")) {
      inputs.push_back(std::move(view));
      continue;
    }
    memory.emplace_back(size_t(16) << 16);
    view.data = memory.back().data();
    names.push_back(port["state"]);
    states.push_back({names.back(), std::move(view)});
  }
  (void)program.run(entry["name"].get<std::string>(), inputs, states);
}

inline void runProgram(Program &program) {
  Result<nlohmann::json> described = parseJson(program.description());
  if (!described)
    return;
  const nlohmann::json &entries = described->is_object() ? (*described)["entry_points"] : *described;
  for (const nlohmann::json &entry : entries)
    runEntry(program, entry);
}

} // namespace ingot::fuzz
