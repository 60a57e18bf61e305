// Errors of operators that are written in Python. Private to this folder.
#pragma once

#include <string>

namespace ingot::fallback {

/// Takes the exception that a Python operator left in this thread: "ValueError: no". Empty when there is none, or no
/// Python in the process. One that is no `Exception` (KeyboardInterrupt) is left there as well.
std::string takePythonError();

/// Leaves a KeyboardInterrupt in this thread: PyTorch throws some exceptions of Python as texts only.
void leaveInterrupt();

} // namespace ingot::fallback
