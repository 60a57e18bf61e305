#include "graph/PageFiles.h"

#ifndef INGOT_PAGE_FOLDER
#error "the build defines INGOT_PAGE_FOLDER as the path of src/graph/html"
#endif

// The assembler reads the file: no huge string literal, and the page can be worked on as HTML, CSS and JavaScript.
#define INGOT_EMBED(symbol, file)                                                                                      \
  __asm__(".section .rodata.ingot_page,\"a\",@progbits\n"                                                              \
          ".globl " #symbol "Begin\n.hidden " #symbol "Begin\n" #symbol "Begin:\n"                                     \
          ".incbin \"" INGOT_PAGE_FOLDER "/" file "\"\n"                                                               \
          ".globl " #symbol "End\n.hidden " #symbol "End\n" #symbol "End:\n"                                           \
          ".byte 0\n.previous\n");                                                                                     \
  extern "C" {                                                                                                         \
  extern const char symbol##Begin[];                                                                                   \
  extern const char symbol##End[];                                                                                     \
  }

INGOT_EMBED(ingotPageFrame, "page.html")
INGOT_EMBED(ingotPageStyle, "page.css")
INGOT_EMBED(ingotPageData, "data.js")
INGOT_EMBED(ingotPageLayout, "layout.js")
INGOT_EMBED(ingotPageView, "view.js")
INGOT_EMBED(ingotPagePanels, "panels.js")

#define INGOT_EMBEDDED(symbol) std::string_view(symbol##Begin, static_cast<size_t>(symbol##End - symbol##Begin))

std::string_view ingot::graph::pageFrame() { return INGOT_EMBEDDED(ingotPageFrame); }

std::string_view ingot::graph::pageStyle() { return INGOT_EMBEDDED(ingotPageStyle); }

std::string ingot::graph::pageScript() {
  std::string script;
  for (std::string_view part : {INGOT_EMBEDDED(ingotPageData), INGOT_EMBEDDED(ingotPageLayout),
                                INGOT_EMBEDDED(ingotPageView), INGOT_EMBEDDED(ingotPagePanels)})
    script += part;
  return script;
}
