#include "graph/Tree.h"

#include "graph/Text.h"

using namespace ingot::graph;

namespace {

/// Deeper modules than anyone writes are kept in one group, so that nothing below has to recurse far.
constexpr size_t maxDepth = 48;

/// Every call of a module, however small.
Tree everyGroup(const Flat &flat) {
  Tree tree;
  tree.groups.emplace_back();
  std::vector<size_t> open = {0};
  std::vector<std::string> names;
  for (size_t node = 0; node < flat.nodes.size(); ++node) {
    std::vector<std::string> path = modulePath(flat.nodes[node].module);
    path.resize(std::min(path.size(), maxDepth));
    size_t common = 0;
    while (common < path.size() && common < names.size() && path[common] == names[common])
      ++common;
    open.resize(common + 1);
    names = path;
    for (size_t i = common; i < path.size(); ++i) {
      Group group;
      group.name = path[i];
      group.parent = open.back();
      const std::string &above = tree.groups[group.parent].path;
      group.path = above + (above.empty() ? "" : ".") + path[i];
      tree.groups[group.parent].items.push_back({true, tree.groups.size()});
      open.push_back(tree.groups.size());
      tree.groups.push_back(std::move(group));
    }
    tree.groups[open.back()].items.push_back({false, node});
    for (size_t group : open)
      ++tree.groups[group].nodeCount;
    const FlatNode &made = flat.nodes[node];
    if (!modulePath(made.node->moduleType).empty() && made.module.ends_with(made.node->module))
      tree.groups[open.back()].type = modulePath(made.node->moduleType).back();
  }
  return tree;
}

/// Copies what is worth a box of its own.
class Simplifier {
public:
  Simplifier(const Tree &all, size_t nodeCount) : all(all) {
    tree.groupOf.resize(nodeCount);
    tree.groups.push_back(all.groups[0]);
    tree.groups[0].items.clear();
    copyItems(0, 0);
  }

  Tree tree;

private:
  void copyItems(size_t from, size_t to) {
    for (const TreeItem &item : all.groups[from].items) {
      if (!item.isGroup)
        addNode(item.index, to);
      else if (all.groups[item.index].nodeCount == 1)
        copyItems(item.index, to);
      else
        copyGroup(item.index, to);
    }
  }

  void addNode(size_t node, size_t to) {
    tree.groups[to].items.push_back({false, node});
    tree.groupOf[node] = to;
  }

  void copyGroup(size_t from, size_t to) {
    std::string name = all.groups[from].name;
    while (all.groups[from].items.size() == 1 && all.groups[from].items[0].isGroup) {
      from = all.groups[from].items[0].index;
      name += "." + all.groups[from].name;
    }
    Group group = all.groups[from];
    group.name = std::move(name);
    group.parent = to;
    group.depth = tree.groups[to].depth + 1;
    group.items.clear();
    size_t index = tree.groups.size();
    tree.groups[to].items.push_back({true, index});
    tree.groups.push_back(std::move(group));
    copyItems(from, index);
  }

  const Tree &all;
};

} // namespace

Tree ingot::graph::groupByModule(const Flat &flat) { return Simplifier(everyGroup(flat), flat.nodes.size()).tree; }
