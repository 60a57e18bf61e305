// Mutations that keep a file's form, so that fuzzing reaches what lies behind its checksums.
#pragma once

#include "base/Bytes.h"
#include "base/Zip.h"
#include "base/test/ZipBuilder.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t maxSize);

namespace ingot::fuzz {

using Random = std::minstd_rand;

struct Member {
  std::string name, content;
};
using Members = std::vector<Member>;

inline std::string mutateBytes(std::string text, Random &random) {
  const size_t size = text.size();
  text.resize(size + 1 + random() % 64);
  text.resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t *>(text.data()), size, text.size()));
  return text;
}

/// Numbers and strings of a JSON text, as begin and length.
inline std::vector<std::pair<size_t, size_t>> jsonTokens(std::string_view text) {
  std::vector<std::pair<size_t, size_t>> tokens;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t begin = i;
    if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i)
        i += text[i] == '\\';
      tokens.emplace_back(begin, std::min(i + 1, text.size()) - begin);
    } else if (text[i] == '-' || (text[i] >= '0' && text[i] <= '9')) {
      i = std::min(text.find_first_not_of("0123456789.eE+-", i), text.size()) - 1;
      tokens.emplace_back(begin, i + 1 - begin);
    }
  }
  return tokens;
}

/// One token becomes another one of the text, or a value that is hard to be right with.
inline std::string mutateJson(std::string text, Random &random) {
  static constexpr std::array hard = {"0",
                                      "1",
                                      "-1",
                                      "2",
                                      "3",
                                      "64",
                                      "65",
                                      "4096",
                                      "65536",
                                      "-2",
                                      "[]",
                                      "{}",
                                      "null",
                                      "true",
                                      "\"\"",
                                      "\"s0\"",
                                      "1e308",
                                      "2147483648",
                                      "[1,2]",
                                      "[[[0]]]",
                                      "\"NaN\"",
                                      "0.5",
                                      "100000",
                                      "-9223372036854775808",
                                      "9223372036854775807",
                                      "18446744073709551615"};
  const auto tokens = jsonTokens(text);
  if (tokens.empty() || random() % 8 == 0)
    return mutateBytes(std::move(text), random);
  const auto [at, length] = tokens[random() % tokens.size()];
  const auto [from, fromLength] = tokens[random() % tokens.size()];
  std::string other = random() % 2 ? std::string(hard[random() % hard.size()]) : text.substr(from, fromLength);
  return text.replace(at, length, other);
}

inline std::optional<Members> unpack(const uint8_t *data, size_t size) {
  Result<Zip> zip = Zip::parse(std::as_bytes(std::span(data, size)));
  if (!zip)
    return std::nullopt;
  Members members;
  for (const Zip::Entry &entry : zip->entries()) {
    Result<std::vector<std::byte>> content = zip->read(entry, 1 << 22);
    if (!content)
      return std::nullopt;
    members.push_back({entry.name, std::string(asText(*content))});
  }
  return members;
}

inline std::string pack(const Members &members) {
  test::ZipBuilder builder;
  for (const Member &member : members)
    builder.add(member.name, member.content);
  return builder.finish();
}

inline void mutateMembers(Members &members, Random &random) {
  Member &chosen = members[random() % members.size()];
  Member &other = members[random() % members.size()];
  switch (random() % 16) {
  case 0:
    std::swap(chosen.content, other.content);
    break;
  case 1:
    chosen.name = mutateBytes(chosen.name, random).substr(0, 200);
    break;
  case 2:
    members.erase(members.begin() + static_cast<ptrdiff_t>(random() % members.size()));
    break;
  default:
    const bool isJson = !chosen.content.empty() && (chosen.content[0] == '{' || chosen.content[0] == '[');
    chosen.content = isJson ? mutateJson(chosen.content, random) : mutateBytes(chosen.content, random);
  }
}

/// For LLVMFuzzerCustomMutator: one member of an archive is changed, and its checksum with it.
inline size_t mutateArchive(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  Random random(seed);
  std::optional<Members> members = unpack(data, size);
  if (!members || members->empty() || random() % 16 == 0)
    return LLVMFuzzerMutate(data, size, maxSize);
  mutateMembers(*members, random);
  const std::string packed = pack(*members);
  if (packed.size() > maxSize)
    return LLVMFuzzerMutate(data, size, maxSize);
  std::memcpy(data, packed.data(), packed.size());
  return packed.size();
}

/// The same for a text that is JSON.
inline size_t mutateDocument(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  Random random(seed);
  std::string text = mutateJson(std::string(reinterpret_cast<const char *>(data), size), random);
  text.resize(std::min(text.size(), maxSize));
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

} // namespace ingot::fuzz
