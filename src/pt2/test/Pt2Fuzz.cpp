// libFuzzer: an archive is read as one; else the first byte chooses what the rest is: a program's JSON, a tree spec, a
// symbolic expression, an operator schema. Nothing may crash, whatever it is.
#include "base/Bytes.h"
#include "base/test/FuzzMutators.h"
#include "pt2/Archive.h"
#include "pt2/ProgramReader.h"
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

/// By the first byte of an input that is no archive.
enum Form : uint8_t { ProgramJson = 'j', TreeSpecJson = 't', Expression = 'e', Schema = 's' };

bool isArchive(const uint8_t *data, size_t size) { return size > 1 && data[0] == 'P' && data[1] == 'K'; }

} // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  if (isArchive(data, size))
    return fuzz::mutateArchive(data, size, maxSize, seed);
  if (size > 1 && (data[0] == ProgramJson || data[0] == TreeSpecJson))
    return 1 + fuzz::mutateDocument(data + 1, size - 1, maxSize - 1, seed);
  return LLVMFuzzerMutate(data, size, maxSize);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0)
    return 0;
  if (isArchive(data, size)) {
    fuzzArchive(asText(std::as_bytes(std::span(data, size))));
    return 0;
  }
  std::string_view rest = asText(std::as_bytes(std::span(data + 1, size - 1)));
  switch (data[0]) {
  case ProgramJson:
    fuzzProgram(rest);
    break;
  case TreeSpecJson:
    (void)readTreeSpec(rest, {{"Point", {"a", "b"}}});
    break;
  case Expression:
    fuzzExpression(rest);
    break;
  default:
    (void)parseSchema(rest);
    break;
  }
  return 0;
}
