// Messages for people who debug, on stderr. INGOT_LOG=off|error|warn|info|debug chooses how many.
#pragma once

#include <sstream>
#include <string>
#include <string_view>

namespace ingot {

enum class LogLevel { Off, Error, Warn, Info, Debug };

/// From INGOT_LOG at the first call, `warn` by default.
LogLevel logLevel();
void setLogLevel(LogLevel level);
/// nullopt-free parsing for the environment and for flags: unknown text gives `fallback`.
LogLevel parseLogLevel(std::string_view text, LogLevel fallback);

/// Writes one line in one system call, so that lines of several threads do not mix.
void writeLog(LogLevel level, std::string_view text);

} // namespace ingot

/// `INGOT_LOG(Debug, "read " << count << " nodes");` costs a comparison when the level is off.
#define INGOT_LOG(level, stream)                                                                                       \
  do {                                                                                                                 \
    if (::ingot::LogLevel::level <= ::ingot::logLevel()) {                                                             \
      std::ostringstream text_;                                                                                        \
      text_ << stream;                                                                                                 \
      ::ingot::writeLog(::ingot::LogLevel::level, text_.str());                                                        \
    }                                                                                                                  \
  } while (false)
