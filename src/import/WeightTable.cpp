#include "import/WeightTable.h"

namespace ingot {

static bool isSameView(const pt2::Weight &a, const pt2::Weight &b) {
  return a.storage.data() == b.storage.data() && a.dtype == b.dtype && a.sizes == b.sizes && a.strides == b.strides &&
         a.storageOffset == b.storageOffset;
}

Result<std::string> WeightTable::add(const pt2::Program &program, const pt2::InputSpec &input,
                                     const std::string &prefix) {
  const pt2::Weight *weight = program.findWeight(input);
  if (!weight)
    return corruptError("the file has no data for '" + input.target + "'");
  if (weight->kind != pt2::PayloadKind::Tensor)
    return unsupportedError("'" + input.target + "' is a Python object, not a plain tensor")
        .note("convert it to a plain tensor before exporting");
  // Empty tensors have no place of their own; a name of theirs may still be asked for twice.
  auto [first, last] = byPlace.equal_range(weight->storage.data());
  for (auto it = first; it != last; ++it)
    if (isSameView(*byKey[it->second], *weight) && (!weight->storage.empty() || it->second == prefix + input.target))
      return it->second;
  std::string key = prefix + input.target;
  for (int number = 2; byKey.contains(key); ++number)
    key = prefix + input.target + "." + std::to_string(number);
  byKey[key] = weight;
  byPlace.emplace(weight->storage.data(), key);
  return key;
}

const pt2::Weight *WeightTable::find(const std::string &key) const {
  auto it = byKey.find(key);
  return it == byKey.end() ? nullptr : it->second;
}

std::vector<std::string> WeightTable::neighbours(const std::string &key) const {
  std::vector<std::string> found;
  const pt2::Weight *weight = find(key);
  if (!weight)
    return found;
  auto [first, last] = byPlace.equal_range(weight->storage.data());
  for (auto it = first; it != last; ++it)
    if (it->second != key && byKey.at(it->second)->overlaps(*weight))
      found.push_back(it->second);
  return found;
}

} // namespace ingot
