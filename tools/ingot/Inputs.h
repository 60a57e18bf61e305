// Where the inputs of `ingot run` come from: a safetensors file, .npy files, chance.
#pragma once

#include "Tensor.h"

#include <map>
#include <string>
#include <vector>

namespace ingot::cli {

struct InputSources {
  std::string safetensors;             ///< file with tensors by name, may be empty
  std::vector<std::string> npy;        ///< "NAME=FILE.npy"
  std::optional<uint64_t> randomSeed;  ///< makes what is not given otherwise
  std::vector<std::string> dimensions; ///< "s0=4": sizes of symbols for random inputs
};

/// A size for every symbol of `entry`: as asked for, or the smallest that is not a special case.
Result<std::map<std::string, int64_t>> chooseSizes(const asset::EntryPoint &entry, const InputSources &sources);

/// One tensor for each input of `entry` that is not a literal, in order. Names that the entry point does
/// not have, and inputs that nothing gives, are all reported at once.
Result<std::vector<Tensor>> gatherInputs(const asset::EntryPoint &entry, const InputSources &sources);

} // namespace ingot::cli
