// How much a lowering builds from numbers in a program, which may be anybody's.
#pragma once

#include <cstdint>

namespace ingot::lower {

/// Elements of a table that a lowering computes.
inline constexpr int64_t kMaxTableElements = int64_t(1) << 24;
/// Copies of one step, one after another.
inline constexpr int64_t kMaxCopies = int64_t(1) << 12;

} // namespace ingot::lower
