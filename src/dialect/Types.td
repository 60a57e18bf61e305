#ifndef INGOT_TYPES_TD
#define INGOT_TYPES_TD

include "Dialect.td"

def Ingot_Float8E8M0FNU : TypeDef<Ingot_Dialect, "Float8E8M0FNU"> {
  let mnemonic = "f8E8M0FNU";
  let summary = "torch.float8_e8m0fnu, an element type that MLIR 19 has no builtin for";
}

#endif
