// Any text may be a graph document; reading, drawing, comparing and compiling it must not crash, whatever it is.
#include "base/test/FuzzMutators.h"
#include "graph/Diff.h"
#include "graph/Dot.h"
#include "graph/FromProgram.h"
#include "graph/Html.h"
#include "graph/Info.h"
#include "graph/Mermaid.h"
#include "graph/Reader.h"
#include "graph/ToProgram.h"
#include "graph/Validate.h"
#include "graph/Writer.h"

using namespace ingot;
using namespace ingot::graph;

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t maxSize, unsigned seed) {
  return fuzz::mutateDocument(data, size, maxSize, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  (void)looksLikeDocument(text);
  Result<Document> document = readDocument(text);
  if (!document)
    return 0;
  (void)validate(*document);
  (void)mermaid(*document);
  (void)mermaidByModule(*document);
  (void)operatorPie(*document);
  (void)dot(*document);
  (void)html(*document);
  (void)infoText(*document);
  (void)comparisonText(compare(*document, *document), 20);
  (void)readDocument(writeDocument(*document));
  if (Result<pt2::Program> program = programWithoutWeights(*document))
    (void)writeDocument(documentOf(*program));
  return 0;
}
