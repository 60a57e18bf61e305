// Numbers of a document: sizes, shapes and operators.
#pragma once

#include "graph/Document.h"

namespace ingot::graph {

struct OpCount {
  std::string name;      ///< "aten.mul.Tensor"
  std::string shortName; ///< "mul.Tensor"
  uint64_t count = 0;
};

/// The most frequent first, equals by name.
std::vector<OpCount> countOperators(const Document &document);

/// Elements of weights by kind. Tied weights count once; weights of unknown kind count as parameters.
struct WeightCount {
  uint64_t parameters = 0, buffers = 0, constants = 0;
  uint64_t bytes = 0;
};
WeightCount countWeights(const Document &document);

/// "parameter", "buffer" or "constant", also where the document does not say.
std::string weightKind(const Document &document, const Weight &weight);

Json infoJson(const Document &document);
std::string infoText(const Document &document);

/// Operators of two documents beside each other; rows that differ are marked.
Json compareInfoJson(const Document &first, const Document &second);
std::string compareInfoText(const Document &first, const Document &second);

} // namespace ingot::graph
