// What can be compiled: exported programs, and graph documents with weights for them.
#pragma once

#include "pt2/Archive.h"

#include <string>
#include <string_view>
#include <vector>

namespace ingot {

/// `text` is the JSON of an exported program or a graph document; documents name their weights themselves.
Result<pt2::Program> readProgramText(std::string_view text, const std::vector<pt2::MemoryWeight> &weights,
                                     const std::vector<std::string> &schemas);

/// A .pt2 file, of which `name` chooses a program if there are several; or a document (JSON) and the files of its weights.
Result<pt2::Program> readProgramFile(const std::string &path, const std::string &name,
                                     const std::vector<std::string> &weightFiles,
                                     const std::vector<std::string> &schemas);

} // namespace ingot
