// Takes the place of the C library's header where MLIR is used. Its headers say what they expect by `assert`: here a failure throws in
// release builds too, so that what a file makes us do wrong is an error, not memory read out of bounds. NDEBUG stays defined: classes keep
// the layout that they have in MLIR's libraries.

#ifndef INGOT_CHECKED_ASSERT
#define INGOT_CHECKED_ASSERT

#include <stdexcept>

namespace ingot {

struct FailedAssertion : std::logic_error {
  using std::logic_error::logic_error;
};

[[noreturn]] void failAssertion(const char *condition, const char *file, int line);

} // namespace ingot

#endif

#undef assert
#define assert(...)                                                                                                    \
  (static_cast<bool>(__VA_ARGS__) ? void(0) : ::ingot::failAssertion(#__VA_ARGS__, __FILE__, __LINE__))
