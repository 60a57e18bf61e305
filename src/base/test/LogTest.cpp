#include "base/Log.h"

#include <gtest/gtest.h>

using namespace ingot;

namespace {

TEST(Log, ParsesLevels) {
  EXPECT_EQ(parseLogLevel("debug", LogLevel::Warn), LogLevel::Debug);
  EXPECT_EQ(parseLogLevel("off", LogLevel::Warn), LogLevel::Off);
  EXPECT_EQ(parseLogLevel("loud", LogLevel::Warn), LogLevel::Warn);
}

TEST(Log, WritesOnlyEnabledLevels) {
  LogLevel before = logLevel();
  setLogLevel(LogLevel::Info);
  testing::internal::CaptureStderr();
  INGOT_LOG(Info, "read " << 3 << " nodes");
  INGOT_LOG(Debug, "not this");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "ingot: info: read 3 nodes\n");
  setLogLevel(before);
}

} // namespace
