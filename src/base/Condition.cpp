#include "base/Condition.h"

namespace ingot {
namespace {

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(' '), end = text.find_last_not_of(' ');
  return begin == std::string_view::npos ? std::string_view() : text.substr(begin, end + 1 - begin);
}

int depthChange(char c) { return c == '(' ? 1 : c == ')' ? -1 : 0; }

/// Whether the first bracket is closed by the last.
bool isBracketed(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += depthChange(text[i]);
    if (depth == 0)
      return i > 0 && i + 1 == text.size();
  }
  return false;
}

} // namespace

std::vector<std::string_view> splitOutside(std::string_view text, std::string_view word) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += depthChange(text[i]);
    if (depth == 0 && i >= begin && text.substr(i).starts_with(word)) {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + word.size();
    }
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::string_view withoutBrackets(std::string_view text) {
  constexpr int most = 64; // looking for the end of each takes time
  text = trimmed(text);
  for (int i = 0; i < most && isBracketed(text); ++i)
    text = trimmed(text.substr(1, text.size() - 2));
  return text;
}

std::optional<Comparison> comparisonIn(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += depthChange(text[i]);
    for (std::string_view sign : {"==", "!=", "<=", ">=", "<", ">"})
      if (depth == 0 && text.substr(i).starts_with(sign))
        return Comparison{trimmed(text.substr(0, i)), text.substr(i, sign.size()),
                          trimmed(text.substr(i + sign.size()))};
  }
  return std::nullopt;
}

} // namespace ingot
