// Makes small zip archives for tests, right or deliberately wrong.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <zlib.h>

namespace ingot::test {

class ZipBuilder {
public:
  struct Options {
    bool deflate = false;
    bool zip64 = false; ///< write sizes and offsets in 64-bit fields, as for large files
    uint16_t flags = 0x0800;
    size_t alignment = 0; ///< pad the local extra field so that the data is aligned
  };

  ZipBuilder &add(const std::string &name, std::string_view content, Options options) {
    Member member{name, options, static_cast<uint32_t>(bytes.size()), checksum(content), 0, 0};
    std::string data = options.deflate ? compress(content) : std::string(content);
    member.size = content.size();
    member.compressedSize = data.size();
    std::string extra = padding(name, options.alignment);
    bytes += "PK\x03\x04";
    put16(0), put16(options.flags), put16(options.deflate ? 8 : 0), put32(0);
    put32(0), put32(0), put32(0);
    put16(name.size()), put16(extra.size());
    bytes += name + extra + data;
    members.push_back(member);
    return *this;
  }

  ZipBuilder &add(const std::string &name, std::string_view content) { return add(name, content, Options()); }

  std::string finish(std::string_view comment = "") {
    size_t begin = bytes.size();
    bool zip64 = false;
    for (const Member &member : members) {
      putCentral(member);
      zip64 |= member.options.zip64;
    }
    size_t size = bytes.size() - begin;
    if (zip64)
      putEnd64(begin, size);
    bytes += "PK\x05\x06";
    put16(0), put16(0);
    put16(zip64 ? 0xffff : members.size()), put16(zip64 ? 0xffff : members.size());
    put32(zip64 ? 0xffffffff : size), put32(zip64 ? 0xffffffff : begin);
    put16(comment.size());
    bytes += comment;
    return bytes;
  }

private:
  struct Member {
    std::string name;
    Options options;
    uint32_t offset, crc;
    uint64_t size, compressedSize;
  };

  static uint32_t checksum(std::string_view text) {
    return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef *>(text.data()), text.size()));
  }

  static std::string compress(std::string_view text) {
    z_stream stream{};
    deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
    std::string out(deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef *>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    deflate(&stream, Z_FINISH);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
  }

  std::string padding(const std::string &name, size_t alignment) const {
    if (!alignment)
      return "";
    size_t start = bytes.size() + 30 + name.size() + 4;
    size_t length = (alignment - start % alignment) % alignment;
    std::string extra = "FB";
    extra += static_cast<char>(length);
    extra += '\0';
    return extra + std::string(length, 'Z');
  }

  void putCentral(const Member &member) {
    bool zip64 = member.options.zip64;
    bytes += "PK\x01\x02";
    put16(0), put16(0), put16(member.options.flags), put16(member.options.deflate ? 8 : 0), put32(0);
    put32(member.crc);
    put32(zip64 ? 0xffffffff : member.compressedSize), put32(zip64 ? 0xffffffff : member.size);
    put16(member.name.size()), put16(zip64 ? 28 : 0), put16(0), put16(0), put16(0), put32(0);
    put32(zip64 ? 0xffffffff : member.offset);
    bytes += member.name;
    if (!zip64)
      return;
    put16(1), put16(24);
    put64(member.size), put64(member.compressedSize), put64(member.offset);
  }

  void putEnd64(uint64_t begin, uint64_t size) {
    uint64_t at = bytes.size();
    bytes += "PK\x06\x06";
    put64(44), put16(0), put16(0), put32(0), put32(0);
    put64(members.size()), put64(members.size()), put64(size), put64(begin);
    bytes += "PK\x06\x07";
    put32(0), put64(at), put32(1);
  }

  void put(uint64_t value, size_t count) {
    for (size_t i = 0; i < count; ++i)
      bytes += static_cast<char>(value >> (8 * i) & 255);
  }
  void put16(uint64_t value) { put(value, 2); }
  void put32(uint64_t value) { put(value, 4); }
  void put64(uint64_t value) { put(value, 8); }

  std::string bytes;
  std::vector<Member> members;
};

} // namespace ingot::test
