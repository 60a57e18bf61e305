#include "base/Zip.h"

#include "base/Bytes.h"
#include "base/test/ZipBuilder.h"

#include <gtest/gtest.h>

using namespace ingot;
using ingot::test::ZipBuilder;

namespace {

std::string textOf(const Zip &zip, std::string_view name) {
  const Zip::Entry *entry = zip.find(name);
  if (!entry)
    return "<missing>";
  Result<std::vector<std::byte>> content = zip.read(*entry);
  return content ? std::string(asText(*content)) : content.error().str();
}

std::string failureOf(const std::string &bytes) {
  Result<Zip> zip = Zip::parse(asBytes(bytes));
  return zip ? "" : zip.error().message;
}

TEST(Zip, ReadsStoredEntriesInPlace) {
  std::string bytes = ZipBuilder().add("a/x", "hello", {.alignment = 64}).add("a/empty", "").finish();
  Result<Zip> zip = Zip::parse(asBytes(bytes));
  ASSERT_TRUE(zip) << zip.error().str();
  ASSERT_EQ(zip->entries().size(), 2u);
  const Zip::Entry *entry = zip->find("a/x");
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->dataOffset % 64, 0u);
  EXPECT_EQ(asText(zip->stored(*entry)), "hello");
  EXPECT_EQ(reinterpret_cast<const char *>(zip->stored(*entry).data()), bytes.data() + entry->dataOffset);
  EXPECT_TRUE(zip->verify(*entry));
  EXPECT_EQ(textOf(*zip, "a/empty"), "");
  EXPECT_FALSE(zip->find("a/y"));
}

TEST(Zip, InflatesDeflatedEntries) {
  std::string content(100000, 'x');
  std::string bytes = ZipBuilder().add("x", content, {.deflate = true}).finish();
  Result<Zip> zip = Zip::parse(asBytes(bytes));
  ASSERT_TRUE(zip) << zip.error().str();
  EXPECT_EQ(textOf(*zip, "x"), content);
  Result<std::vector<std::byte>> limited = zip->read(zip->entries()[0], 1000);
  ASSERT_FALSE(limited);
  EXPECT_EQ(limited.error().kind, ErrorKind::Unsupported);
}

TEST(Zip, ReadsZip64) {
  std::string bytes = ZipBuilder().add("x", "one", {.zip64 = true}).add("y", "two").finish();
  Result<Zip> zip = Zip::parse(asBytes(bytes));
  ASSERT_TRUE(zip) << zip.error().str();
  EXPECT_EQ(textOf(*zip, "x"), "one");
  EXPECT_EQ(textOf(*zip, "y"), "two");
}

TEST(Zip, IgnoresNestedArchivesAndComments) {
  std::string inner = ZipBuilder().add("inner", "1").finish();
  std::string bytes = ZipBuilder().add("outer", inner).finish("a comment with PK\x05\x06 inside");
  Result<Zip> zip = Zip::parse(asBytes(bytes));
  ASSERT_TRUE(zip) << zip.error().str();
  EXPECT_EQ(zip->entries().size(), 1u);
  EXPECT_EQ(textOf(*zip, "outer"), inner);
}

TEST(Zip, RefusesDuplicatesOverlapsAndEncryption) {
  EXPECT_NE(failureOf(ZipBuilder().add("x", "1").add("x", "2").finish()).find("twice"), std::string::npos);
  EXPECT_NE(failureOf(ZipBuilder().add("x", "1", {.flags = 1}).finish()).find("encrypted"), std::string::npos);
  // Let the second directory entry point at the first entry's data, under its own name.
  std::string bytes = ZipBuilder().add("x", "1").add("y", "2").finish();
  size_t second = bytes.rfind("PK\x01\x02");
  bytes[second + 42] = 0;
  bytes[second + 46] = 'x';
  EXPECT_NE(failureOf(bytes), "");
}

TEST(Zip, RefusesNamesThatLeadOut) {
  for (const std::string &name : {std::string("/etc/passwd"), std::string("../x"), std::string("a/../../x"),
                                  std::string(".."), std::string("a/.."), std::string("a\0b", 3)})
    EXPECT_NE(failureOf(ZipBuilder().add(name, "1").finish()).find("leads out"), std::string::npos) << name;
  for (const char *name : {"a..b", "..a/b", "a/b../c", "a//b"})
    EXPECT_EQ(failureOf(ZipBuilder().add(name, "1").finish()), "") << name;
}

TEST(Zip, RefusesBombsOfManyEntries) {
  ZipBuilder builder;
  for (int i = 0; i < 5; ++i)
    builder.add("x" + std::to_string(i), std::string(2 << 20, 'x'), {.deflate = true});
  std::string bytes = builder.finish();
  // Each claims a little less than 1 GiB, together they are too much.
  for (size_t central = bytes.find("PK\x01\x02"); central != bytes.npos;
       central = bytes.find("PK\x01\x02", central + 4))
    bytes.replace(central + 24, 4, std::string("\x00\x00\x00\x3f", 4));
  EXPECT_NE(failureOf(bytes).find("hold more than"), std::string::npos);
}

TEST(Zip, NoticesDamagedContent) {
  std::string bytes = ZipBuilder().add("x", "hello").finish();
  bytes[31 + 1] ^= 1;
  Result<Zip> zip = Zip::parse(asBytes(bytes));
  ASSERT_TRUE(zip);
  EXPECT_FALSE(zip->verify(zip->entries()[0]));
  EXPECT_FALSE(zip->read(zip->entries()[0]));
}

TEST(Zip, RefusesImpossibleSizes) {
  std::string bytes = ZipBuilder().add("x", std::string(5000, 'x'), {.deflate = true}).finish();
  size_t central = bytes.rfind("PK\x01\x02");
  // Claim 1 GiB of content.
  bytes.replace(central + 24, 4, std::string("\x00\x00\x00\x40", 4));
  Result<Zip> zip = Zip::parse(asBytes(bytes));
  ASSERT_TRUE(zip) << zip.error().str();
  EXPECT_FALSE(zip->read(zip->entries()[0]));
}

TEST(Zip, SurvivesTruncationAndFlippedBytes) {
  std::string bytes = ZipBuilder()
                          .add("a", "stored", {.alignment = 64})
                          .add("b", std::string(300, 'b'), {.deflate = true})
                          .add("c", "large", {.zip64 = true})
                          .finish("comment");
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_NE(failureOf(bytes.substr(0, length)), "") << length;
  for (size_t at = 0; at < bytes.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = bytes;
      damaged[at] ^= static_cast<char>(1 << bit);
      Result<Zip> zip = Zip::parse(asBytes(damaged));
      if (!zip)
        continue;
      for (const Zip::Entry &entry : zip->entries())
        (void)zip->read(entry, 1 << 20);
    }
}

} // namespace
