// A folder that disappears with its object, and where such folders are made.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace ingot::test {

class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ingot-test-XXXXXX").string();
    folder = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;

  const std::string &path() const { return folder; }
  std::string file(const std::string &name) const { return folder + "/" + name; }
  std::string write(const std::string &name, std::string_view content) const {
    std::ofstream(file(name), std::ios::binary) << content;
    return file(name);
  }
  size_t entryCount() const {
    auto begin = std::filesystem::directory_iterator(folder);
    return static_cast<size_t>(std::distance(begin, std::filesystem::directory_iterator()));
  }

private:
  std::string folder;
};

/// TMPDIR as a test wants it, and as it was afterwards.
class TmpDir {
public:
  explicit TmpDir(const std::string &path) {
    if (const char *was = std::getenv("TMPDIR"))
      before = was;
    ::setenv("TMPDIR", path.c_str(), 1);
  }
  ~TmpDir() { before ? ::setenv("TMPDIR", before->c_str(), 1) : ::unsetenv("TMPDIR"); }
  TmpDir(const TmpDir &) = delete;
  TmpDir &operator=(const TmpDir &) = delete;

private:
  std::optional<std::string> before;
};

inline std::string readFile(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

} // namespace ingot::test
