// Branches, loops, and values whose sizes depend on data.
#ifndef INGOT_CONTROL_OPS_TD
#define INGOT_CONTROL_OPS_TD

include "OpBase.td"
include "DataDependent.td"

def Ingot_ItemOp : Ingot_Op<"item", [Ingot_DataDependentTrait]> {
  let summary = "the only element of a tensor, as a number";
  let description = "```mlir\n%n = ingot.item %x : (tensor<i64>) -> i64\n```";
  let arguments = (ins Ingot_Tensor:$x);
  let results = (outs Ingot_Scalar:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Ingot_CheckOp : Op<Ingot_Dialect, "check", [Ingot_DataDependentTrait]> {
  let summary = "fails with `message` unless the condition holds; the result is true";
  let description = "```mlir\n%ok = ingot.check %c {message = \"n must be small\"} : (i1) -> i1\n```";
  let arguments = (ins Ingot_Any:$condition, StrAttr:$message);
  let results = (outs I1:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

/// Sub-graphs take everything they use as arguments, and end in ingot.yield.
class Ingot_ControlOp<string mnemonic, list<Trait> traits = []>
    : Op<Ingot_Dialect, mnemonic, traits#[IsolatedFromAbove, RecursiveMemoryEffects]> {
  let results = (outs Variadic<Ingot_Any>:$results);
  let hasVerifier = 1;
}

def Ingot_IfOp : Ingot_ControlOp<"if"> {
  let summary = "one of two sub-graphs, by a condition of one element";
  let description = [{
    ```mlir
    %r = ingot.if %c(%x) {
    ^bb0(%a: tensor<2xf32>):
      ingot.yield %a : tensor<2xf32>
    }, {
    ^bb0(%a: tensor<2xf32>):
      %n = ingot.neg %a : (tensor<2xf32>) -> tensor<2xf32>
      ingot.yield %n : tensor<2xf32>
    } : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
    ```
  }];
  let arguments = (ins Ingot_Any:$condition, Variadic<Ingot_Any>:$values);
  let regions = (region SizedRegion<1>:$then, SizedRegion<1>:$otherwise);
  let assemblyFormat =
      "$condition `(` $values `)` attr-dict-with-keyword $then `,` $otherwise `:` functional-type(operands, results)";
}

def Ingot_WhileOp : Ingot_ControlOp<"while", [AttrSizedOperandSegments]> {
  let summary = "`body` as long as `test` gives true; both see the carried values and the extra ones";
  let description = [{
    `body` gives new values for the carried ones, which are the results at the end.
    ```mlir
    %r = ingot.while(%x) extra(%n) {
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %c = ingot.lt %a, %b : (tensor<i64>, tensor<i64>) -> tensor<i1>
      ingot.yield %c : tensor<i1>
    }, {
    ^bb0(%a: tensor<i64>, %b: tensor<i64>):
      %s = ingot.add %a, %a : (tensor<i64>, tensor<i64>) -> tensor<i64>
      ingot.yield %s : tensor<i64>
    } : (tensor<i64>, tensor<i64>) -> tensor<i64>
    ```
  }];
  let arguments = (ins Variadic<Ingot_Any>:$carried, Variadic<Ingot_Any>:$extra);
  let regions = (region SizedRegion<1>:$test, SizedRegion<1>:$body);
  let assemblyFormat = "`(` $carried `)` `extra` `(` $extra `)` attr-dict-with-keyword $test `,` $body `:` "
                       "functional-type(operands, results)";
}

def Ingot_ScanOp : Ingot_ControlOp<"scan", [AttrSizedOperandSegments]> {
  let summary = "`body` for every slice of the sequences along their first dimension";
  let description = [{
    The body sees the carried values, a slice of each sequence, and the extra values. It gives new carried values, then
    one slice of each stacked result. The op's results are the last carried values, then the stacked ones.

    When `associative`, there are no carried values: the body combines the slices of the running result with those of the
    sequences, and the first slice is its own result.
    ```mlir
    %r:2 = ingot.scan(%c) over(%xs) extra() attributes {associative = false} {
    ^bb0(%a: tensor<3xf32>, %x: tensor<3xf32>):
      %s = ingot.add %a, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      ingot.yield %s, %a : tensor<3xf32>, tensor<3xf32>
    } : (tensor<3xf32>, tensor<5x3xf32>) -> (tensor<3xf32>, tensor<5x3xf32>)
    ```
  }];
  let arguments = (ins Variadic<Ingot_Any>:$carried, Variadic<Ingot_Tensor>:$sequences, Variadic<Ingot_Any>:$extra,
      BoolAttr:$associative);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "`(` $carried `)` `over` `(` $sequences `)` `extra` `(` $extra `)` attr-dict-with-keyword $body "
                       "`:` functional-type(operands, results)";
}

def Ingot_InvokeOp : Op<Ingot_Dialect, "invoke", []> {
  let summary =
      "calls functions of the module; made from the other control ops, and from runs between them, by `outline`";
  let description = [{
    `kind` is `call`, `if`, `while`, `scan` or `fold` (an associative scan); `groups` tells how many operands are carried,
    sequences and extra.
    ```mlir
    %r = ingot.invoke %x {kind = "call", functions = ["main.0"], groups = array<i64>} : (tensor<2xf32>) -> tensor<2xf32>
    ```
  }];
  let arguments = (ins Variadic<Ingot_Any>:$values, StrAttr:$kind, StrArrayAttr:$functions, DenseI64ArrayAttr:$groups);
  let results = (outs Variadic<Ingot_Any>:$results);
  let assemblyFormat = "$values attr-dict `:` functional-type(operands, results)";
}

#endif
