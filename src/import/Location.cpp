#include "import/Location.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace ingot {

std::string SourceInfo::str() const {
  llvm::SmallVector<std::string> where;
  if (!file.empty())
    where.push_back(file + ":" + std::to_string(line));
  if (!modulePath.empty())
    where.push_back("in " + modulePath);
  std::string text = node.empty() ? "" : "node '" + node + "'";
  if (!where.empty())
    text += (text.empty() ? "(" : " (") + llvm::join(where, ", ") + ")";
  return text;
}

Location makeLocation(MLIRContext *context, const SourceInfo &source) {
  Location location = UnknownLoc::get(context);
  if (!source.file.empty())
    location = FileLineColLoc::get(context, source.file, source.line, 0);
  if (!source.modulePath.empty())
    location = FusedLoc::get(context, location, StringAttr::get(context, source.modulePath));
  if (!source.node.empty())
    location = NameLoc::get(StringAttr::get(context, source.node), location);
  return location;
}

SourceInfo sourceInfo(Location location) {
  SourceInfo source;
  llvm::SmallVector<StringRef> nodes;
  location->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part); name && !llvm::is_contained(nodes, name.getName()))
      nodes.push_back(name.getName());
    if (auto file = dyn_cast<FileLineColLoc>(part); file && source.file.empty()) {
      source.file = file.getFilename().str();
      source.line = file.getLine();
    }
    if (auto fused = dyn_cast<FusedLoc>(part); fused && source.modulePath.empty())
      if (auto path = dyn_cast_or_null<StringAttr>(fused.getMetadata()))
        source.modulePath = path.str();
    return WalkResult::advance();
  });
  source.node = llvm::join(nodes, ", ");
  return source;
}

} // namespace ingot
