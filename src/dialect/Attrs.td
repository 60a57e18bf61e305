#ifndef INGOT_ATTRS_TD
#define INGOT_ATTRS_TD

include "Dialect.td"

class Ingot_Attr<string name, string attrMnemonic> : AttrDef<Ingot_Dialect, name> {
  let mnemonic = attrMnemonic;
}

def Ingot_ValueRefAttr : Ingot_Attr<"ValueRef", "value"> {
  let summary = "an argument of a carrier op that is its operand number `index`";
  let parameters = (ins "int64_t":$index);
  let assemblyFormat = "`<` $index `>`";
}

def Ingot_RegionRefAttr : Ingot_Attr<"RegionRef", "region"> {
  let summary = "an argument of a carrier op that is its region number `index` (a sub-graph)";
  let parameters = (ins "int64_t":$index);
  let assemblyFormat = "`<` $index `>`";
}

def Ingot_TaggedAttr : Ingot_Attr<"Tagged", "tagged"> {
  let summary = "an argument with a kind of its own: `device`, `layout`, `memory_format`, `operator`, `complex`";
  let parameters = (ins StringRefParameter<"kind">:$kind, StringRefParameter<"value">:$value);
  let assemblyFormat = "`<` $kind `,` $value `>`";
}

class Ingot_Enum<string name, list<I32EnumAttrCase> cases> : I32EnumAttr<name, "", cases> {
  let cppNamespace = "::ingot";
}

def Ingot_ReduceKind : Ingot_Enum<"ReduceKind", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">,
  I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">,
  I32EnumAttrCase<"Any", 4, "any">, I32EnumAttrCase<"All", 5, "all">]>;

def Ingot_PadMode : Ingot_Enum<"PadMode", [
  I32EnumAttrCase<"Constant", 0, "constant">, I32EnumAttrCase<"Reflect", 1, "reflect">,
  I32EnumAttrCase<"Replicate", 2, "replicate">, I32EnumAttrCase<"Circular", 3, "circular">]>;

def Ingot_ResizeMode : Ingot_Enum<"ResizeMode", [
  I32EnumAttrCase<"Nearest", 0, "nearest">, I32EnumAttrCase<"NearestExact", 1, "nearest_exact">,
  I32EnumAttrCase<"Linear", 2, "linear">, I32EnumAttrCase<"Cubic", 3, "cubic">]>;

// Applied by matmul and conv to their result, after the bias.
def Ingot_Activation : Ingot_Enum<"Activation", [
  I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Relu", 1, "relu">,
  I32EnumAttrCase<"Relu6", 2, "relu6">, I32EnumAttrCase<"Gelu", 3, "gelu">,
  I32EnumAttrCase<"GeluTanh", 4, "gelu_tanh">, I32EnumAttrCase<"Silu", 5, "silu">,
  I32EnumAttrCase<"Sigmoid", 6, "sigmoid">, I32EnumAttrCase<"Tanh", 7, "tanh">,
  I32EnumAttrCase<"HardSwish", 8, "hard_swish">, I32EnumAttrCase<"HardSigmoid", 9, "hard_sigmoid">]>;

#endif
