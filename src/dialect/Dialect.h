// The ingot dialect: its class, enumerations, attributes and types. Ops.h has the operations.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"

#include "dialect/Dialect.h.inc"
#include "dialect/Enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialect/Attrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialect/Types.h.inc"
