#include "pt2/SourceLocation.h"

#include <algorithm>
#include <charconv>

using namespace ingot;
using namespace ingot::pt2;

namespace {

std::string_view trim(std::string_view text) {
  size_t begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos)
    return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// `File "model.py", line 12, in forward`
std::optional<SourceFrame> parseFrameLine(std::string_view line) {
  constexpr std::string_view prefix = "File \"", lineWord = "\", line ", inWord = ", in ";
  line = trim(line);
  if (!line.starts_with(prefix))
    return std::nullopt;
  line.remove_prefix(prefix.size());
  // From the right: a path may hold anything, even the separator.
  size_t separator = line.rfind(lineWord);
  if (separator == line.npos)
    return std::nullopt;
  SourceFrame frame;
  frame.file = line.substr(0, separator);
  line.remove_prefix(separator + lineWord.size());
  auto [end, failure] = std::from_chars(line.data(), line.data() + line.size(), frame.line);
  if (failure != std::errc())
    return std::nullopt;
  line.remove_prefix(static_cast<size_t>(end - line.data()));
  if (line.starts_with(inWord))
    frame.function = line.substr(inWord.size());
  return frame;
}

/// A line of carets and tildes that newer Pythons print below the code.
bool isMarker(std::string_view line) { return line.find_first_not_of("^~ ") == line.npos; }

bool isTorchFile(std::string_view file) {
  return file.find("-packages/torch/") != file.npos || file.find("/torch/nn/") != file.npos ||
         file.find("/torch/_") != file.npos;
}

bool isUserFile(std::string_view file) {
  bool isInstalled = file.find("site-packages/") != file.npos || file.find("dist-packages/") != file.npos ||
                     file.find("/lib/python") != file.npos;
  // "<eval_with_key>.3", "<frozen runpy>": code that is in no file.
  return !isInstalled && !isTorchFile(file) && !file.starts_with('<');
}

/// Splits at `separator` outside of brackets: types such as `Union[a, b]` hold commas.
std::vector<std::string_view> splitOutsideBrackets(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  size_t begin = 0, depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[')
      ++depth;
    else if ((text[i] == ')' || text[i] == ']') && depth > 0)
      --depth;
    else if (text[i] == separator && depth == 0) {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  parts.push_back(text.substr(begin));
  return parts;
}

/// "layer@1" is the second call of "layer"; strict export writes "L['self'].layer".
std::string plainPath(std::string_view path) {
  constexpr std::string_view self = "L['self']";
  if (path.starts_with(self)) {
    path.remove_prefix(self.size());
    if (path.starts_with('.'))
      path.remove_prefix(1);
  }
  return std::string(path.substr(0, path.rfind('@')));
}

} // namespace

std::string SourceFrame::str() const { return file.empty() ? "" : file + ":" + std::to_string(line); }

std::string SourceLocation::str() const {
  std::string text = frame ? frame->str() : "";
  if (modulePath.empty())
    return text;
  return text.empty() ? modulePath : text + " (" + modulePath + ")";
}

std::vector<SourceFrame> pt2::parseStackTrace(std::string_view text) {
  std::vector<SourceFrame> frames;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (std::optional<SourceFrame> frame = parseFrameLine(line))
      frames.push_back(std::move(*frame));
    else if (!frames.empty() && frames.back().code.empty() && !isMarker(line))
      frames.back().code = trim(line);
  }
  return frames;
}

std::vector<ModuleFrame> pt2::parseModuleStack(std::string_view text) {
  std::vector<ModuleFrame> frames;
  if (text.empty())
    return frames;
  for (std::string_view entry : splitOutsideBrackets(text, ';')) {
    std::vector<std::string_view> parts = splitOutsideBrackets(entry, ',');
    // Nodes that torch inserts itself say so instead of naming a module.
    if (parts.size() == 3 && !parts[0].starts_with("_empty_nn_module_stack"))
      frames.push_back({std::string(parts[0]), plainPath(parts[1]), std::string(parts[2])});
  }
  return frames;
}

SourceLocation pt2::locate(const NodeMetadata &metadata) {
  SourceLocation location;
  for (SourceFrame &frame : parseStackTrace(metadata.stackTrace)) {
    // Later frames are further in; a user's frame is only replaced by another one.
    bool isUser = isUserFile(frame.file);
    if (isUser || !location.frame || !isUserFile(location.frame->file))
      location.frame = frame;
    if (!isTorchFile(frame.file) && !frame.file.starts_with('<'))
      location.libraryFrame = std::move(frame);
  }
  if (location.libraryFrame == location.frame)
    location.libraryFrame.reset();
  std::vector<ModuleFrame> modules = parseModuleStack(metadata.moduleStack);
  if (!modules.empty()) {
    location.modulePath = std::move(modules.back().path);
    location.moduleType = std::move(modules.back().type);
  }
  return location;
}
