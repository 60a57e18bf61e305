// Errors of operators that are written in Python. Private to this folder.
#pragma once

#include <string>

namespace ingot::fallback {

/// Takes the exception that a Python operator left in this thread: "ValueError: no". Empty when there is none, or no
/// Python in the process.
std::string takePythonError();

} // namespace ingot::fallback
