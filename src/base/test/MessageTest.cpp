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

TEST(Message, OnlyUtf8) {
  EXPECT_EQ(messageText("€ \xf0\x9f\x98\x80"), "€ \xf0\x9f\x98\x80");
  EXPECT_EQ(messageText("\x80 \xc3( \xe2\x82"), "? ?( ??");
  EXPECT_EQ(messageText("\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xff"), "?? ??? ???? ?");
  EXPECT_EQ(messageText("\xc2\x9b"
                        "31m \xe2\x80\xae"),
            "??31m ???")
      << "C1 controls, and text turned round";
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
