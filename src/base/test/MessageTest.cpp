#include "base/Message.h"

#include <gmock/gmock.h>

namespace ingot {
namespace {

TEST(Message, PlainTextStays) {
  EXPECT_EQ(messageText("a 'é'\n\tb"), "a 'é'\n\tb");
  EXPECT_EQ(messageText(""), "");
}

TEST(Message, NothingDrivesATerminal) {
  EXPECT_EQ(messageText("a\x1b[31mb\r\x7f"), "a?[31mb??");
  EXPECT_EQ(messageText(std::string_view("a\0b", 3)), "a?b");
}

TEST(Message, LongTextsLoseTheirMiddle) {
  std::string text = "begin" + std::string(5 << 20, ' ') + "end";
  std::string shown = messageText(text);
  EXPECT_LT(shown.size(), 70000u);
  EXPECT_TRUE(shown.starts_with("begin"));
  EXPECT_TRUE(shown.ends_with("end"));
  EXPECT_THAT(shown, testing::HasSubstr("bytes left out"));
}

} // namespace
} // namespace ingot
