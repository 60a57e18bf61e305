// A folder in memory for targets whose code reads files; gone with the process.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace ingot::fuzz {

inline const std::string &scratchFolder() {
  // Removes the folder before its name goes.
  struct Folder {
    std::string path;
    Folder() {
      std::error_code ignored;
      std::string base = std::filesystem::is_directory("/dev/shm", ignored) ? "/dev/shm" : "/tmp";
      std::string pattern = base + "/ingot-fuzz-XXXXXX";
      path = ::mkdtemp(pattern.data());
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static const Folder folder;
  return folder.path;
}

inline void writeScratch(const std::string &path, std::string_view content) {
  std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
}

} // namespace ingot::fuzz
