#include "dialect/Dialect.h"
#include "dialect/ControlOps.h"
#include "dialect/CustomOps.h"
#include "dialect/LinalgOps.h"
#include "dialect/Ops.h"
#include "dialect/OrderOps.h"
#include "dialect/RandomOps.h"
#include "dialect/ScatterOps.h"
#include "dialect/SequenceOps.h"
#include "dialect/SpecialOps.h"
#include "dialect/SpectralOps.h"
#include "dialect/WindowOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialect/Dialect.cpp.inc"
#include "dialect/Enums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/Attrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/Types.cpp.inc"

namespace ingot {

void IngotDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialect/Attrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialect/Types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/Ops.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/SpecialOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/ScatterOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/OrderOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/WindowOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/SequenceOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/LinalgOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/SpectralOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/RandomOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/ControlOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialect/CustomOps.cpp.inc"
      >();
}

Operation *IngotDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (elements && isa<RankedTensorType>(type) && elements.getType() == type)
    return builder.create<ConstantOp>(loc, elements);
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

} // namespace ingot
