#include "passes/compose/NativeForms.h"

#include "dialect/ControlOps.h"
#include "dialect/Conventions.h"
#include "dialect/Ops.h"
#include "dialect/SequenceOps.h"

using namespace mlir;

namespace ingot {
namespace {

/// Whether the body is declared as version 1 of the composite.
bool isDeclared(func::FuncOp body, StringRef name) {
  auto declaration = body->getAttrOfType<DictionaryAttr>(attr::kCompositeDecl);
  auto described = declaration ? declaration.getAs<DictionaryAttr>(name) : nullptr;
  auto attributes = described ? described.getAs<DictionaryAttr>("op_attrs") : nullptr;
  auto version = attributes ? attributes.getAs<IntegerAttr>("version") : nullptr;
  return version && version.getValue() == 1;
}

bool isFloatTensor(Value value, int64_t rank) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() == rank && type.getElementType().isF32();
}

/// The loop carries (step, state, output) over (query, key, value, decay, beta): one kernel walks all of its steps.
void useGatedDelta(func::FuncOp body) {
  auto loops = body.getOps<WhileOp>();
  if (!llvm::hasSingleElement(loops))
    return;
  WhileOp loop = *loops.begin();
  OperandRange carried = loop.getCarried(), extra = loop.getExtra();
  if (carried.size() != 3 || extra.size() != 5 || !isFloatTensor(carried[1], 4) || !isFloatTensor(carried[2], 4) ||
      !llvm::all_of(extra.take_front(3), [](Value x) { return isFloatTensor(x, 4); }) ||
      !llvm::all_of(extra.drop_front(3), [](Value x) { return isFloatTensor(x, 3); }) ||
      carried[2].getType() != extra[2].getType() || !loop.getResult(0).use_empty())
    return;
  OpBuilder builder(loop);
  auto native = builder.create<GatedDeltaOp>(loop.getLoc(), TypeRange{extra[2].getType(), carried[1].getType()},
                                             ValueRange{extra[0], extra[1], extra[2], extra[3], extra[4], carried[1]});
  loop.getResult(1).replaceAllUsesWith(native.getLastState());
  loop.getResult(2).replaceAllUsesWith(native.getResult());
  loop.erase();
}

} // namespace

void useNativeForm(func::FuncOp body) {
  if (isDeclared(body, "gated_delta_update"))
    useGatedDelta(body);
}

} // namespace ingot
