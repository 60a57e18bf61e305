// A profile as a page for browsers: one file that needs nothing else.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace ingot::cli {

/// `summary` is what `ingot profile --json` prints.
std::string profilePage(const std::string &asset, const nlohmann::json &summary);

} // namespace ingot::cli
