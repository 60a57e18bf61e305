// Streams weights of any strides into a safetensors file, hashing on the way.
#pragma once

#include "asset/Writer.h"

namespace ingot::asset {

/// Writes `path` anew. Data starts at multiples of 64 bytes.
Result<FileInfo> writeWeights(const std::string &path, const std::vector<WeightSource> &weights);

} // namespace ingot::asset
