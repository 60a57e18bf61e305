// How Archive.cpp gets from JSON to the structs of Graph.h. Internal to src/pt2 and to src/graph, which makes programs
// of another text.
#pragma once

#include "base/Json.h"
#include "pt2/Archive.h"

namespace ingot::pt2 {

struct JsonReadOptions {
  bool keepMetadata = true;
  bool clampsIntegers = false; ///< those beyond 64 bits are the nearest within
};

// ArgumentReader.cpp
Result<Argument> readArgument(JsonRef json, const JsonReadOptions &options);
Result<SymInt> readSymInt(JsonRef json);
Result<SymFloat> readSymFloat(JsonRef json);
Result<SymBool> readSymBool(JsonRef json);
Result<TensorMeta> readTensorMeta(JsonRef json);
Result<CustomObjRef> readCustomObj(JsonRef json);
/// `{"name": n}`
Result<std::string> readName(JsonRef json);

// GraphReader.cpp
Result<Graph> readGraph(JsonRef json, const JsonReadOptions &options);

// SignatureReader.cpp
Result<Signature> readSignature(JsonRef json, const JsonReadOptions &options);

// TreeSpecReader.cpp
/// `text` is JSON of its own: `[1, node]`.
Result<TreeSpec> readTreeSpec(std::string_view text, const NameMap<std::vector<std::string>> &namedTupleFields);

// ProgramReader.cpp
/// Fills everything but path, model name and weights.
Result<Program> readProgramJson(std::string_view text, const JsonReadOptions &options);
Dialect dialectOf(const std::vector<std::string> &verifiers);
/// The flat call (arguments, then keywords) must have as many leaves as the signature has slots.
Status checkTrees(const Program &program);

// GraphCheck.cpp
/// Every value is defined once, before its use, and described in the value tables.
Status checkGraph(const Graph &graph);
/// The signature names the graph's inputs and outputs, in order.
Status checkSignature(const Graph &graph, const Signature &signature);

// ShapeRepair.cpp
void repairShapes(Graph &graph);

// EffectTokens.cpp
/// Calls with an effect become plain ones; the graph and the signature are checked already.
Status removeEffectTokens(Program &program);

// Weights.cpp
/// The view's last element lies inside the storage, computed without overflow.
Status checkView(const std::string &name, const Weight &weight);
/// Every weight that the signature needs is there and is a plain tensor.
Status checkWeightsPresent(const Program &program);

// Archive.cpp
/// Takes the weights of a program that has none yet; they must be those that it needs.
Status adoptWeights(Program &program, const std::vector<MemoryWeight> &weights);

} // namespace ingot::pt2
