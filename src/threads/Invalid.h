// The flag that a CPU raises where an operation has no number for a result, and where a maximum or a minimum drops a NaN.
// What helpers of a region raise is raised in its caller (Team.cpp).
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace ingot::threads {

#if defined(__x86_64__)

inline bool isInvalid() { return (_mm_getcsr() & _MM_EXCEPT_INVALID) != 0; }
inline void raiseInvalid() { _mm_setcsr(_mm_getcsr() | _MM_EXCEPT_INVALID); }
inline void clearInvalid() {
  if (isInvalid())
    _mm_setcsr(_mm_getcsr() & ~static_cast<unsigned>(_MM_EXCEPT_INVALID));
}

#else

/// Nobody knows.
inline bool isInvalid() { return true; }
inline void raiseInvalid() {}
inline void clearInvalid() {}

#endif

} // namespace ingot::threads
