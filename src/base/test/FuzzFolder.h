// A folder in memory for targets whose code reads files; gone with the process.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace ingot::fuzz {

inline const std::string &scratchFolder() {
  static const std::string folder = [] {
    std::error_code ignored;
    std::string base = std::filesystem::is_directory("/dev/shm", ignored) ? "/dev/shm" : "/tmp";
    std::string pattern = base + "/ingot-fuzz-XXXXXX";
    std::string made = ::mkdtemp(pattern.data());
    std::atexit([] { std::filesystem::remove_all(scratchFolder()); });
    return made;
  }();
  return folder;
}

inline void writeScratch(const std::string &path, std::string_view content) {
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
}

} // namespace ingot::fuzz
