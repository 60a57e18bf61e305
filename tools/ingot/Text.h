// Text for people: tables, sizes, colours on a terminal.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace ingot::cli {

enum class Colour { Red, Green, Bold };

/// `text` in colour if `stream` is a terminal (and NO_COLOR is not set). What is in it cannot drive the terminal.
std::string paint(std::string_view text, Colour colour, std::FILE *stream);

/// "438.8 MB"
std::string bytesText(uint64_t bytes);

/// With so many digits after the point.
std::string fixedText(double value, int digits);

/// "[1, s0, 64]"
std::string shapeText(const std::vector<std::string> &shape);

std::vector<std::string> splitLines(std::string_view text);

/// Rows of cells, columns aligned, two blanks between them. Cells may hold what files say.
class Table {
public:
  void add(std::vector<std::string> row);
  bool isEmpty() const { return rows.empty(); }
  std::string str(std::string_view indent = "  ") const;

private:
  std::vector<std::vector<std::string>> rows;
};

} // namespace ingot::cli
