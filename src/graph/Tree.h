// The modules of a graph as a tree of groups. A group is one call of a module: nodes of one module that stand apart
// are two groups, so edges between groups go forward like those between nodes.
#pragma once

#include "graph/Flat.h"

namespace ingot::graph {

struct TreeItem {
  bool isGroup = false;
  size_t index = 0; ///< of Tree::groups or Flat::nodes
};

struct Group {
  std::string name; ///< "0", or "layer.0" where one holds nothing but the other
  std::string path; ///< "encoder.layer.0"
  std::string type; ///< class of the module without its package, where a node of it tells
  size_t parent = 0;
  size_t depth = 0;
  size_t nodeCount = 0; ///< in it and below
  std::vector<TreeItem> items;
};

struct Tree {
  std::vector<Group> groups;   ///< the first is the model; parents come before children
  std::vector<size_t> groupOf; ///< of every node
};

/// Groups of a single node are left out: the node stands for its module.
Tree groupByModule(const Flat &flat);

} // namespace ingot::graph
