// The functions behind runtime/AuthorApi.h.
#pragma once

#include "runtime/AuthorApi.h"

namespace ingot {

const AuthorApi &authorApi();

} // namespace ingot
