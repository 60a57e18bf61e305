#include "pipeline/Fallback.h"

#include "dialect/Conventions.h"
#include "dialect/Ops.h"
#include "pt2/Schema.h"

#include <mlir/IR/Builders.h>

using namespace mlir;

namespace ingot {
namespace {

/// How the returns lie in the results, written out.
ArrayAttr layoutOf(AtenOp op, const pt2::OpSchema &schema) {
  if (auto layout = op->getAttrOfType<ArrayAttr>(attr::kReturns))
    return layout;
  Builder builder(op.getContext());
  SmallVector<Attribute> numbers;
  bool isList = schema.returns.size() == 1 && schema.returns.front().type.isList();
  size_t count = isList ? op.getNumResults() : std::min<size_t>(op.getNumResults(), schema.returns.size());
  for (size_t i = 0; i < count; ++i)
    numbers.push_back(builder.getI64IntegerAttr(static_cast<int64_t>(i)));
  ArrayAttr list = builder.getArrayAttr(numbers);
  return isList ? builder.getArrayAttr({list}) : list;
}

/// Renumbers a layout; unused results become unit.
class Trimmer {
public:
  explicit Trimmer(AtenOp op) : op(op), builder(op) {}

  Attribute trim(Attribute place) {
    if (auto list = dyn_cast<ArrayAttr>(place)) {
      SmallVector<Attribute> items;
      for (Attribute item : list)
        items.push_back(trim(item));
      return builder.getArrayAttr(items);
    }
    auto number = dyn_cast<IntegerAttr>(place);
    if (!number || number.getInt() < 0 || number.getInt() >= static_cast<int64_t>(op.getNumResults()))
      return builder.getUnitAttr();
    ++returned;
    Value result = op.getResult(static_cast<unsigned>(number.getInt()));
    if (result.use_empty())
      return builder.getUnitAttr();
    kept.push_back(result);
    return builder.getI64IntegerAttr(static_cast<int64_t>(kept.size()) - 1);
  }

  void replace(Attribute layout) {
    // The new content of written arguments follows the returns.
    for (Value written : op.getResults().drop_front(returned))
      kept.push_back(written);
    auto trimmed = builder.create<AtenOp>(op.getLoc(), ValueRange(kept).getTypes(), op.getTarget(), op.getValues(),
                                          op.getArgs(), 0);
    for (NamedAttribute attribute : op->getDiscardableAttrs())
      trimmed->setAttr(attribute.getName(), attribute.getValue());
    trimmed->setAttr(attr::kReturns, layout);
    for (auto [before, after] : llvm::zip_equal(kept, trimmed.getResults()))
      before.replaceAllUsesWith(after);
    op.erase();
  }

private:
  AtenOp op;
  OpBuilder builder;
  SmallVector<Value> kept;
  unsigned returned = 0;
};

void dropUnusedResults(AtenOp op, const pt2::OpSchema &schema) {
  bool isUsed = llvm::none_of(op.getResults(), [](Value result) { return result.use_empty(); });
  bool isPlain = schema.returns.size() == 1 || llvm::none_of(schema.returns, [](const pt2::SchemaReturn &returned) {
                   return returned.type.isList();
                 });
  if (isUsed || op->hasAttr(attr::kInto) || !op.getGraphs().empty() || (!isPlain && !op->hasAttr(attr::kReturns)))
    return;
  Trimmer trimmer(op);
  Attribute layout = trimmer.trim(layoutOf(op, schema));
  trimmer.replace(layout);
}

} // namespace

void prepareFallback(ModuleOp module) {
  SmallVector<AtenOp> carriers;
  module.walk([&](AtenOp op) { carriers.push_back(op); });
  for (AtenOp op : carriers) {
    const pt2::OpSchema *schema = pt2::findSchema(std::string_view(op.getTarget()));
    if (!schema)
      continue;
    if (!op->hasAttr(attr::kWrites))
      op->setAttr(attr::kWrites, ArrayAttr::get(op.getContext(), {}));
    dropUnusedResults(op, *schema);
  }
}

} // namespace ingot
