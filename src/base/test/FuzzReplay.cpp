// A main for fuzz targets without libFuzzer: every file of the given folders, then a number of changes to each.
//   target [-changes=N] FOLDER_OR_FILE...
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace fs = std::filesystem;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize,
                                                                unsigned seed);

namespace {

std::minstd_rand &generator() {
  static std::minstd_rand random(1);
  return random;
}

std::vector<uint8_t> readFile(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> filesOf(const std::string &argument) {
  std::vector<fs::path> files;
  if (!fs::is_directory(argument))
    return {argument};
  for (const auto &item : fs::recursive_directory_iterator(argument))
    if (item.is_regular_file() && item.path().filename().string()[0] != '.')
      files.push_back(item.path());
  std::ranges::sort(files);
  return files;
}

void runChanges(const std::vector<uint8_t> &original, int changes) {
  std::vector<uint8_t> data = original;
  for (int i = 0; i < changes; ++i) {
    std::vector<uint8_t> changed = data;
    const size_t size = changed.size();
    changed.resize(size + 4096);
    const size_t made = LLVMFuzzerCustomMutator
                            ? LLVMFuzzerCustomMutator(changed.data(), size, changed.size(), generator()())
                            : LLVMFuzzerMutate(changed.data(), size, changed.size());
    changed.resize(made);
    LLVMFuzzerTestOneInput(changed.data(), changed.size());
    if (i % 32 == 31) // changes of changes go deeper, but too many leave nothing
      data = original;
    else if (i % 8 == 7)
      data = std::move(changed);
  }
}

} // namespace

/// What targets with mutators of their own use of libFuzzer.
extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize) {
  std::minstd_rand &random = generator();
  if (size < maxSize && random() % 4 == 0)
    data[size++] = static_cast<uint8_t>(random());
  else if (size > 1 && random() % 8 == 0)
    size = 1 + random() % size;
  for (unsigned i = 0; size > 0 && i < 1 + random() % 4; ++i)
    data[random() % size] = static_cast<uint8_t>(random() % 4 ? random() : 0xff);
  return size;
}

int main(int argc, char **argv) {
  int changes = 0;
  size_t count = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument.starts_with("-changes=")) {
      changes = std::atoi(argument.c_str() + 9);
      continue;
    }
    for (const fs::path &path : filesOf(argument)) {
      std::vector<uint8_t> data = readFile(path);
      LLVMFuzzerTestOneInput(data.data(), data.size());
      runChanges(data, changes);
      ++count;
    }
  }
  std::printf("%zu files, %d changes of each\n", count, changes);
  return 0;
}
