#ifndef INGOT_PASSES_TD
#define INGOT_PASSES_TD

include "mlir/Pass/PassBase.td"

def FoldConvScalePass : Pass<"fold-conv-scale", "::mlir::func::FuncOp"> {
  let summary = "multiplies a constant per-channel factor into the convolution's weights";
  let description = [{
    Batch norm at inference is a factor and a shift per channel; the factor disappears here, the shift in `fold-bias`.

    Before:
    ```mlir
    %c = ingot.conv %x, %w ...
    %r = ingot.mul %c, %scale
    ```
    After (the product of constants is computed once, when the program is loaded):
    ```mlir
    %s = ingot.reshape %scale() {sizes = array<i64: 64, 1, 1, 1>}
    %v = ingot.mul %w, %s
    %r = ingot.conv %x, %v ...
    ```
  }];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def FoldBiasPass : Pass<"fold-bias", "::mlir::func::FuncOp"> {
  let summary = "adds a constant per-channel term inside the convolution or matrix product";
  let description = [{
    Before:
    ```mlir
    %m = ingot.matmul %a, %b
    %r = ingot.add %m, %bias
    ```
    After:
    ```mlir
    %r = ingot.matmul %a, %b bias %bias
    ```
  }];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def FoldResidualPass : Pass<"fold-residual", "::mlir::func::FuncOp"> {
  let summary = "adds a tensor of the result's shape inside the convolution or matrix product";
  let description = [{
    Before:
    ```mlir
    %c = ingot.conv %x, %w
    %r = ingot.add %c, %shortcut
    ```
    After:
    ```mlir
    %r = ingot.conv %x, %w residual %shortcut
    ```
  }];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def FoldActivationPass : Pass<"fold-activation", "::mlir::func::FuncOp"> {
  let summary = "applies an activation inside the convolution or matrix product that feeds it";
  let description = [{
    Before:
    ```mlir
    %c = ingot.conv %x, %w {activation = 0 : i32}
    %r = ingot.relu %c
    ```
    After:
    ```mlir
    %r = ingot.conv %x, %w {activation = 1 : i32}
    ```
  }];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def FoldAttentionPass : Pass<"fold-attention", "::mlir::func::FuncOp"> {
  let summary = "makes attention of products with a softmax between them";
  let description = [{
    Scores then stay in the cache. Masks that are added, and factors inside of them, come along; a row of scores that are
    all minus infinity still gives NaN.

    Before:
    ```mlir
    %s = ingot.matmul %q, %kt
    %d = ingot.div %s, %c
    %m = ingot.add %d, %mask
    %p = ingot.softmax %m {axis = 3 : i64, log = false}
    %r = ingot.matmul %p, %v
    ```
    After:
    ```mlir
    %k = ingot.permute %kt {dims = array<i64: 0, 1, 3, 2>}
    %r = ingot.attention %q, %k, %v, %mask {scale = 0.125 : f64, causal = false, nan_rows = true}
    ```
  }];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def FoldGatherPass : Pass<"fold-gather", "::mlir::func::FuncOp"> {
  let summary = "multiplies with chosen matrices where they lie, without copying them first";
  let description = [{
    Before:
    ```mlir
    %c = ingot.index_select %table, %i {axis = 0 : i64}
    %r = ingot.matmul %a, %c
    ```
    After:
    ```mlir
    %r = ingot.gather_matmul %a, %table, %i
    ```
  }];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def FoldPadPass : Pass<"fold-pad", "::mlir::func::FuncOp"> {
  let summary = "lets a convolution add the zeros around its image itself";
  let description = [{
    Before:
    ```mlir
    %p = ingot.pad %x {low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>, mode = 0 : i32, value = 0.0 : f64}
    %r = ingot.conv %p, %w {pad_low = array<i64: 0, 0>, ...}
    ```
    After:
    ```mlir
    %r = ingot.conv %x, %w {pad_low = array<i64: 1, 1>, ...}
    ```
  }];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def FoldResizePass : Pass<"fold-resize", "::mlir::func::FuncOp"> {
  let summary = "computes a 1x1 convolution of an enlarged image before it is enlarged";
  let description = [{
    Both are weighted sums, over channels and over pixels, so that either may come first. Heads of segmentation models join
    several enlarged images; each gets its share of the weights.

    Before:
    ```mlir
    %b = ingot.resize %small() ...
    %c = ingot.concat %a, %b {axis = 1 : i64}
    %r = ingot.conv %c, %w ...
    ```
    After:
    ```mlir
    %v = ingot.slice %w() {axis = 1 : i64, ...}
    %s = ingot.conv %small, %v ...
    %b = ingot.resize %s() ...
    %u = ingot.slice %w() {axis = 1 : i64, ...}
    %t = ingot.conv %a, %u ...
    %r = ingot.add %t, %b
    ```
  }];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def FoldSelectRowPass : Pass<"fold-select-row", "::mlir::func::FuncOp"> {
  let summary = "writes one position instead of choosing it from two whole tensors";
  let description = [{
    `x[:, p] = row` is decomposed into a mask and a choice, which reads and writes all of `x`. A slice that is inserted can
    be written where `x` is.

    Before:
    ```mlir
    %i = ingot.iota %zero, %one, %count
    %m = ingot.eq %i, %p
    %a = ingot.expand %row() {sizes = array<i64: 8, 64>}
    %r = ingot.select %m, %a, %x
    ```
    After:
    ```mlir
    %r = ingot.insert_slice %x, %row() {axis = 1 : i64, bounds = array<i64: 5, 6>, step = 1 : i64}
    ```
  }];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def VerifyLoweredPass : Pass<"verify-lowered", "::mlir::ModuleOp"> {
  let summary = "fails if an exported node is left; the message lists all of them";
  let description = [{
    Before: a module that may hold `ingot.aten`. After: the same module, without any, or a failure whose message names
    every op that is left, how often it occurs, and the user's Python lines. In a module with `ingot.fallback` those may
    stay that PyTorch's dispatcher can run.
  }];
}

#endif
