// Drawings, numbers and comparisons of graph documents, which come as JSON.
#include "Bind.h"
#include "graph/Diff.h"
#include "graph/Dot.h"
#include "graph/Html.h"
#include "graph/Info.h"
#include "graph/Mermaid.h"
#include "graph/Reader.h"
#include "graph/Text.h"

#include <nanobind/stl/string.h>

#include <algorithm>

namespace nb = nanobind;
using namespace nb::literals;
using namespace ingot;
using namespace ingot::bind;

namespace {

graph::Document parsed(const std::string &text) {
  Result<graph::Document> document = graph::readDocument(text);
  if (!document)
    throw Failure(document.error());
  return *std::move(document);
}

std::string mermaid(const std::string &text, int64_t maxNodes, bool includeWeights, bool byModule) {
  graph::Document document = parsed(text);
  graph::DrawOptions options{static_cast<size_t>(std::max<int64_t>(maxNodes, 0)), includeWeights};
  return byModule ? graph::mermaidByModule(document, options) : graph::mermaid(document, options);
}

std::string pie(const std::string &text, int64_t count) {
  return graph::operatorPie(parsed(text), static_cast<size_t>(std::max<int64_t>(count, 0)));
}

std::string dot(const std::string &text, bool includeWeights) {
  return graph::dot(parsed(text), {.maxNodes = 0, .includeWeights = includeWeights});
}

std::string html(const std::string &text) { return graph::html(parsed(text)); }

std::string info(const std::string &text) { return graph::jsonText(graph::infoJson(parsed(text))); }

std::string infoText(const std::string &text) { return graph::infoText(parsed(text)); }

std::string diff(const std::string &first, const std::string &second) {
  return graph::jsonText(graph::comparisonJson(graph::compare(parsed(first), parsed(second))));
}

} // namespace

void bind::initLook(nb::module_ &module) {
  using Release = nb::call_guard<GilRelease>;
  module.def("mermaid", &mermaid, "text"_a, "max_nodes"_a = 30, "include_weights"_a = true, "by_module"_a = false,
             Release());
  module.def("op_pie", &pie, "text"_a, "top_n"_a = 10, Release());
  module.def("dot", &dot, "text"_a, "include_weights"_a = true, Release());
  module.def("html", &html, "text"_a, Release());
  module.def("document_info", &info, "text"_a, Release(), "The numbers of a graph document, as JSON.");
  module.def("document_info_text", &infoText, "text"_a, Release(), "The same for people.");
  module.def("diff_documents", &diff, "first"_a, "second"_a, Release(), "Where two graph documents differ, as JSON.");
}
