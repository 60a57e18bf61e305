#include "lower/Registry.h"

#include "dialect/SpecialOps.h"
#include "lower/Elementwise.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace ingot::lower {

// The lowering functions are declared from the table as well: a row and a definition are enough.
#define ATEN(name, family, fn, note) LogicalResult fn(LowerContext &);
#define ATEN_TEMPLATE(name, family, fn, note)
#include "lower/aten_ops.inc"

namespace {

constexpr Row kRows[] = {
#define ATEN(name, family, fn, note) {name, #family, fn, note},
#define ATEN_TEMPLATE(name, family, fn, note) {name, #family, fn, note},
#include "lower/aten_ops.inc"
};

} // namespace

ArrayRef<Row> allRows() { return kRows; }

const Row *findRow(StringRef name) {
  static const llvm::StringMap<const Row *> byName = [] {
    llvm::StringMap<const Row *> map;
    for (const Row &row : kRows)
      map.try_emplace(row.name, &row);
    return map;
  }();
  auto it = byName.find(name);
  return it == byName.end() ? nullptr : it->second;
}

} // namespace ingot::lower
