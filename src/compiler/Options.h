// The JSON options of a conversion, as doors pass them.
#pragma once

#include "base/Result.h"
#include "pipeline/Pipeline.h"
#include "plugins/Plugins.h"
#include "pt2/Rewrite.h"

namespace ingot {

struct CompilerOptions {
  PipelineOptions pipeline;
  bool specialise = false;              ///< also make the cache entry for this CPU
  std::vector<std::string> plugins;     ///< paths of libraries with lowerings
  std::vector<std::string> weightFiles; ///< of a graph document
  std::string program;                  ///< of a .pt2 file with several
  std::optional<pt2::Rewrite> rewrite;  ///< done to every entry point first
};

/// Keys: "specialise" (bool), "stop_after" (phase), "dump_ir" (folder), "disable_passes" (names), "time_passes" (bool),
/// "fallback" (bool), "composites" (bool), "keep_paths" (bool), "schemas" (of custom operators), "plugins" (paths),
/// "weights" (paths of a graph document's checkpoint), "by_torch" (bool), "rewrite" (pt2/Rewrite.h),
/// "program" (its name in a .pt2 file with several).
/// Null or empty text means the defaults; an unknown key is an error.
Result<CompilerOptions> parseOptions(const char *json);

/// Loads the libraries that the options name and puts their lowerings before those that the options have, so that these
/// count where both have one for an operator. `plugins` is to be kept as long as the options.
Status loadPlugins(CompilerOptions &options, Plugins &plugins);

} // namespace ingot
