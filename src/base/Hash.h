// Content hashes (XXH3, 128 bits): fast, stable between machines and versions, not cryptographic.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ingot {

struct Hash128 {
  uint64_t high = 0, low = 0;

  /// 32 lower-case hexadecimal digits.
  std::string hex() const;
  static std::optional<Hash128> fromHex(std::string_view text);
  auto operator<=>(const Hash128 &) const = default;
};

Hash128 hashBytes(std::span<const std::byte> bytes);
Hash128 hashText(std::string_view text);

/// Hashes data that comes in pieces; equals the hash of the pieces joined.
class Hasher {
public:
  Hasher();
  ~Hasher();
  Hasher(Hasher &&) noexcept;
  Hasher &operator=(Hasher &&) noexcept;

  Hasher &add(std::span<const std::byte> bytes);
  Hasher &add(std::string_view text);
  Hasher &add(uint64_t number);
  Hash128 finish() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace ingot
