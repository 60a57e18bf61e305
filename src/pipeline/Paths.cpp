#include "pipeline/Paths.h"

#include <filesystem>
#include <mlir/IR/AttrTypeSubElements.h>
#include <mlir/IR/Location.h>

using namespace mlir;

namespace ingot {

static std::string relativePath(StringRef path, StringRef workingFolder) {
  if (!path.starts_with("/"))
    return path.str();
  if (auto [folder, inside] = path.rsplit("/site-packages/"); !inside.empty())
    return inside.str();
  if (StringRef inside = path; !workingFolder.empty() && inside.consume_front(workingFolder))
    return inside.str();
  return path.rsplit('/').second.str();
}

void makePathsRelative(ModuleOp module) {
  std::error_code failure;
  std::string folder = std::filesystem::current_path(failure).string();
  if (failure)
    folder.clear();
  else if (!folder.ends_with('/'))
    folder += '/';
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](FileLineColLoc place) -> std::optional<Attribute> {
    std::string path = relativePath(place.getFilename(), folder);
    return FileLineColLoc::get(place.getContext(), path, place.getLine(), place.getColumn());
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/false, /*replaceLocs=*/true, /*replaceTypes=*/false);
}

} // namespace ingot
