// A plugin with the lowerings of two custom operators.
//
//   c++ -std=c++20 -shared -fPIC -Iinclude examples/plugin/softclip.cpp -o softclip.so
//   ingot convert model.pt2 -o model.ingot --plugin softclip.so
#include "ingot/lowering.hpp"

using ingot::plugin::Lowering;
using ingot::plugin::Value;

/// acme::softclip(Tensor x, float limit) -> Tensor: limit * tanh(x / limit)
static Value lowerSoftclip(Lowering &node) {
  Value x = node.value("x");
  double limit = node.real("limit");
  if (!(limit > 0))
    throw ingot::plugin::Refusal("the limit must be above zero");
  Value bound = node.constant(limit, x.type().dtype);
  return node.op("mul", {node.op("tanh", {node.op("div", {x, bound})}), bound});
}

/// acme::center(Tensor x, int dim) -> (Tensor, Tensor): x without its mean along a dimension, and that mean
static std::vector<Value> lowerCenter(Lowering &node) {
  Value x = node.value("x");
  ingot::plugin::Type type = x.type();
  int64_t axis = node.integer("dim");
  if (axis < 0)
    axis += type.rank();
  // `kind` 0 is the sum; the dimension stays with size 1.
  std::string dims = "array<i64: " + std::to_string(axis) + ">";
  Value sum = node.op("reduce", {x}, ("{kind = 0 : i32, dims = " + dims + "}").c_str());
  Value count = node.cast(node.op("from_scalar", {node.dim(x, axis)}), type.dtype);
  Value mean = node.op("div", {sum, count});
  return {node.op("sub", {x, mean}), mean};
}

INGOT_PLUGIN(registry) {
  registry.add("acme::softclip", lowerSoftclip);
  registry.add("acme::center", lowerCenter);
}
