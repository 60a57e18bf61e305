#include "base/Log.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <unistd.h>

using namespace ingot;

namespace {

constexpr std::array<std::string_view, 5> levelNames = {"off", "error", "warn", "info", "debug"};

std::atomic<LogLevel> &currentLevel() {
  static std::atomic<LogLevel> level = [] {
    const char *text = std::getenv("INGOT_LOG");
    return parseLogLevel(text ? text : "", LogLevel::Warn);
  }();
  return level;
}

} // namespace

LogLevel ingot::parseLogLevel(std::string_view text, LogLevel fallback) {
  for (size_t i = 0; i < levelNames.size(); ++i)
    if (text == levelNames[i])
      return static_cast<LogLevel>(i);
  return fallback;
}

LogLevel ingot::logLevel() { return currentLevel().load(std::memory_order_relaxed); }

void ingot::setLogLevel(LogLevel level) { currentLevel().store(level, std::memory_order_relaxed); }

void ingot::writeLog(LogLevel level, std::string_view text) {
  std::string line = "ingot: ";
  line += levelNames[static_cast<size_t>(level)];
  line += ": ";
  line += text;
  line += '\n';
  // A log that cannot be written has nobody to tell.
  [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
}
