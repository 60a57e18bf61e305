// Shapes that torch.export is known to write wrongly. For `unique_consecutive(x, dim=-1)` PyTorch 2.13 appends all of x's
// sizes to the right ones, and takes the size of the counts from those.
#include "pt2/ProgramReader.h"

namespace ingot::pt2 {

namespace {

constexpr std::string_view kUniqueConsecutive = "torch.ops.aten.unique_consecutive.default";

TensorMeta *metaOf(Graph &graph, const Argument &value) {
  auto found = value.is(ArgumentKind::Tensor) ? graph.tensorValues.find(value.asTensor()) : graph.tensorValues.end();
  return found == graph.tensorValues.end() ? nullptr : &found->second;
}

/// Strides of intermediate values are a hint; those that stay are as good as any.
void setSizes(TensorMeta &meta, std::vector<SymInt> sizes) {
  meta.strides.resize(sizes.size(), meta.strides.empty() ? SymInt() : meta.strides.back());
  meta.sizes = std::move(sizes);
}

void repairDistinct(Graph &graph, const Node &node) {
  const Argument *self = node.findInput("self"), *dim = node.findInput("dim");
  if (!self || !dim || !dim->is(ArgumentKind::Int) || dim->asInt() != -1 || node.outputs.size() != 3)
    return;
  const TensorMeta *input = metaOf(graph, *self);
  TensorMeta *values = metaOf(graph, node.outputs[0]), *counts = metaOf(graph, node.outputs[2]);
  if (!input || !values || input->sizes.empty() || values->sizes.size() != 2 * input->sizes.size())
    return;
  setSizes(*values, {values->sizes.begin(), values->sizes.begin() + static_cast<ptrdiff_t>(input->sizes.size())});
  if (counts && counts->sizes.size() == 1)
    setSizes(*counts, {values->sizes.back()});
}

} // namespace

void repairShapes(Graph &graph) {
  for (const Node &node : graph.nodes)
    if (node.target == kUniqueConsecutive)
      repairDistinct(graph, node);
}

} // namespace ingot::pt2
