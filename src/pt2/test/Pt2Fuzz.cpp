// libFuzzer: the first byte chooses what the rest is: an archive, a program's JSON, a symbolic
// expression, an operator schema. Nothing may crash, whatever it is.
#include "base/Bytes.h"
#include "pt2/Archive.h"
#include "pt2/Schema.h"
#include "pt2/SourceLocation.h"
#include "pt2/SymExpr.h"

#include <cstdio>
#include <sys/mman.h>
#include <unistd.h>

using namespace ingot;
using namespace ingot::pt2;

namespace {

/// readProgram maps a file, so the bytes become one, in memory.
void fuzzArchive(std::string_view bytes) {
  static const int descriptor = memfd_create("fuzz", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  if (ftruncate(descriptor, static_cast<off_t>(bytes.size())) != 0 ||
      pwrite(descriptor, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return;
  Result<Program> program = readProgram(path);
  if (!program)
    return;
  unsigned sum = 0;
  for (const Storage &storage : program->storages)
    for (std::byte value : storage.bytes)
      sum += static_cast<unsigned>(value);
  volatile unsigned keep = sum;
  (void)keep;
}

void fuzzProgram(std::string_view text) {
  Result<Program> program = readProgramFromMemory(text, {});
  if (!program)
    return;
  for (const Node &node : program->graph.nodes)
    (void)locate(node.metadata);
}

void fuzzExpression(std::string_view text) {
  Result<SymExpr> expr = parseSymExpr(text);
  if (!expr)
    return;
  (void)printSymExpr(*expr);
  (void)evaluateSymExpr(*expr, [](std::string_view name) -> std::optional<SymValue> {
    return SymValue(static_cast<int64_t>(name.size()));
  });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  std::string_view rest = asText(std::as_bytes(std::span(data + 1, size - 1)));
  switch (data[0] % 4) {
  case 0:
    fuzzArchive(rest);
    break;
  case 1:
    fuzzProgram(rest);
    break;
  case 2:
    fuzzExpression(rest);
    break;
  default:
    (void)parseSchema(rest);
    break;
  }
  return 0;
}
