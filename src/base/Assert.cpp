#include "base/checked/assert.h"

#include <cstring>
#include <string>

namespace ingot {

void failAssertion(const char *condition, const char *file, int line) {
  const char *slash = std::strrchr(file, '/');
  throw FailedAssertion(std::string("`") + condition + "` does not hold (" + (slash ? slash + 1 : file) + ":" +
                        std::to_string(line) + ")");
}

} // namespace ingot
