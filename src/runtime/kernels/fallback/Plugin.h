// Finding and loading the libtorch plugin.
#pragma once

#include "base/Result.h"
#include "fallback/FallbackApi.h"

#include <string>

namespace ingot {

/// The kernel that runs exported nodes as they are, with PyTorch.
inline constexpr const char *kFallbackKernel = "aten";

/// The plugin, loaded at the first call. Unsupported, with what to do, where it is not installed.
Result<const FallbackApi *> fallbackApi();

/// Turns a failed call into an Error and releases its message.
Error fallbackFailure(const FallbackApi &api, FallbackError &error);

} // namespace ingot
