#include "base/Hash.h"

// Header-only use: no run-time dependency, and the hash can be inlined.
#define XXH_INLINE_ALL
#include <xxhash.h>

using namespace ingot;

struct Hasher::State {
  XXH3_state_t xxh;
};

namespace {

Hash128 fromXxh(XXH128_hash_t hash) { return {hash.high64, hash.low64}; }

std::optional<uint64_t> parseHex(std::string_view digits) {
  uint64_t value = 0;
  for (char c : digits) {
    uint64_t digit;
    if (c >= '0' && c <= '9')
      digit = c - '0';
    else if (c >= 'a' && c <= 'f')
      digit = c - 'a' + 10;
    else
      return std::nullopt;
    value = value << 4 | digit;
  }
  return value;
}

} // namespace

std::string Hash128::hex() const {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (uint64_t half : {high, low})
    for (int shift = 60; shift >= 0; shift -= 4)
      text += digits[half >> shift & 15];
  return text;
}

std::optional<Hash128> Hash128::fromHex(std::string_view text) {
  if (text.size() != 32)
    return std::nullopt;
  std::optional<uint64_t> high = parseHex(text.substr(0, 16)), low = parseHex(text.substr(16));
  if (!high || !low)
    return std::nullopt;
  return Hash128{*high, *low};
}

Hash128 ingot::hashBytes(std::span<const std::byte> bytes) { return fromXxh(XXH3_128bits(bytes.data(), bytes.size())); }

Hash128 ingot::hashText(std::string_view text) { return fromXxh(XXH3_128bits(text.data(), text.size())); }

Hasher::Hasher() : state(std::make_unique<State>()) { XXH3_128bits_reset(&state->xxh); }
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher &&) noexcept = default;
Hasher &Hasher::operator=(Hasher &&) noexcept = default;

Hasher &Hasher::add(std::span<const std::byte> bytes) {
  if (!bytes.empty())
    XXH3_128bits_update(&state->xxh, bytes.data(), bytes.size());
  return *this;
}

Hasher &Hasher::add(std::string_view text) { return add(std::as_bytes(std::span(text.data(), text.size()))); }

Hasher &Hasher::add(uint64_t number) { return add(std::as_bytes(std::span(&number, 1))); }

Hash128 Hasher::finish() const { return fromXxh(XXH3_128bits_digest(&state->xxh)); }
