#include "pt2/Graph.h"

using namespace ingot::pt2;

std::string_view ingot::pt2::argumentKindName(ArgumentKind kind) {
  switch (kind) {
#define X(name, member, type)                                                                                          \
  case ArgumentKind::name:                                                                                             \
    return member;
    INGOT_PT2_ARGUMENTS(X)
#undef X
  }
  return "invalid";
}

namespace {

using NameVisitor = std::function<void(const std::string &)>;

template <typename T> void visitRef(const SymRef<T> &ref, const NameVisitor &visit) {
  if (ref.isName())
    visit(ref.name());
}

template <typename T> void visitRefs(const std::vector<SymRef<T>> &refs, const NameVisitor &visit) {
  for (const SymRef<T> &ref : refs)
    visitRef(ref, visit);
}

void visitNames(const std::vector<std::string> &names, const NameVisitor &visit) {
  for (const std::string &name : names)
    visit(name);
}

void visitOptional(const std::optional<std::string> &name, const NameVisitor &visit) {
  if (name)
    visit(*name);
}

} // namespace

void ingot::pt2::forEachValueName(const Argument &argument, const NameVisitor &visit) {
  switch (argument.kind) {
  case ArgumentKind::Tensor:
    return visit(argument.asTensor());
  case ArgumentKind::Tensors:
    return visitNames(argument.asTensors(), visit);
  case ArgumentKind::OptionalTensor:
    return visitOptional(argument.asOptionalTensor(), visit);
  case ArgumentKind::OptionalTensors:
    for (const std::optional<std::string> &name : argument.asOptionalTensors())
      visitOptional(name, visit);
    return;
  case ArgumentKind::NestedTensors:
    for (const std::vector<std::string> &names : argument.asNestedTensors())
      visitNames(names, visit);
    return;
  case ArgumentKind::SymInt:
    return visitRef(argument.asSymInt(), visit);
  case ArgumentKind::SymInts:
    return visitRefs(argument.asSymInts(), visit);
  case ArgumentKind::SymFloat:
    return visitRef(argument.asSymFloat(), visit);
  case ArgumentKind::SymFloats:
    return visitRefs(argument.asSymFloats(), visit);
  case ArgumentKind::SymBool:
    return visitRef(argument.asSymBool(), visit);
  case ArgumentKind::SymBools:
    return visitRefs(argument.asSymBools(), visit);
  case ArgumentKind::CustomObj:
    return visit(argument.asCustomObj().name);
  case ArgumentKind::Dict:
    for (const auto &[key, value] : argument.asDict())
      forEachValueName(value, visit);
    return;
  default:
    return;
  }
}

const Argument *Node::findInput(std::string_view wanted) const {
  for (const NamedArgument &input : inputs)
    if (input.name == wanted)
      return &input.value;
  return nullptr;
}

const TensorMeta *Graph::findTensor(std::string_view name) const {
  auto found = tensorValues.find(name);
  return found == tensorValues.end() ? nullptr : &found->second;
}

size_t TreeSpec::leafCount() const {
  if (kind == TreeKind::Leaf)
    return 1;
  size_t count = 0;
  for (const TreeSpec &child : children)
    count += child.leafCount();
  return count;
}
