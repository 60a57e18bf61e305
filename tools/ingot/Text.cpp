#include "Text.h"

#include "base/Message.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <unistd.h>

using namespace ingot::cli;

std::string ingot::cli::paint(std::string_view text, Colour colour, std::FILE *stream) {
  const char *refused = std::getenv("NO_COLOR");
  if (!::isatty(::fileno(stream)) || (refused && *refused))
    return plainText(text);
  const char *code = colour == Colour::Red ? "31" : colour == Colour::Green ? "32" : "1";
  return "\x1b[" + std::string(code) + "m" + plainText(text) + "\x1b[0m";
}

std::string ingot::cli::bytesText(uint64_t bytes) {
  static constexpr std::array units = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < units.size(); ++unit)
    value /= 1000;
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text.data();
}

std::string ingot::cli::fixedText(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string ingot::cli::shapeText(const std::vector<std::string> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + shape[i];
  return text + "]";
}

std::vector<std::string> ingot::cli::splitLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

/// What stands in a file must not begin lines of its own.
static std::string oneLine(std::string text) {
  std::ranges::replace_if(text, [](char letter) { return letter == '\n' || letter == '\t'; }, '?');
  return text;
}

void Table::add(std::vector<std::string> row) {
  for (std::string &cell : row)
    cell = oneLine(plainText(cell));
  rows.push_back(std::move(row));
}

std::string Table::str(std::string_view indent) const {
  std::vector<size_t> widths;
  for (const std::vector<std::string> &row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      widths.resize(std::max(widths.size(), i + 1));
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string text;
  for (const std::vector<std::string> &row : rows) {
    text += indent;
    for (size_t i = 0; i < row.size(); ++i) {
      text += row[i];
      if (i + 1 < row.size())
        text.append(widths[i] - row[i].size() + 2, ' ');
    }
    text += "\n";
  }
  return text;
}
