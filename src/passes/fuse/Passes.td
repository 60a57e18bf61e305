#ifndef INGOT_FUSE_PASSES_TD
#define INGOT_FUSE_PASSES_TD

include "mlir/Pass/PassBase.td"

def ExpandNormsPass : Pass<"expand-norms", "::mlir::func::FuncOp"> {
  let summary = "writes softmax and layer norm over the last dimensions as reductions and element-wise ops";
  let description = [{
    Only where a cluster can take the result: floating point over sizes known here. 16-bit floats are computed in
    32 bits, as PyTorch does. Group norm becomes a layer norm between reshapes. Everything else stays, and runs by its
    reference kernel.

    Before:
    ```mlir
    %r = ingot.softmax %x {axis = 1 : i64, log = false} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
    After:
    ```mlir
    %m = ingot.reduce %x {kind = 2 : i32, dims = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
    %d = ingot.sub %x, %m : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
    %e = ingot.exp %d : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %s = ingot.reduce %e {kind = 0 : i32, dims = array<i64: 1>} : (tensor<2x3xf32>) -> tensor<2x1xf32>
    %i = ingot.reciprocal %s : (tensor<2x1xf32>) -> tensor<2x1xf32>
    %r = ingot.mul %e, %i : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
    ```
  }];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def FoldFactorsPass : Pass<"fold-factors", "::mlir::func::FuncOp"> {
  let summary = "multiplies an image by a factor for each channel inside the 1x1 convolution that reads it";
  let description = [{
    Squeeze-and-excite blocks end so. The image is then read once and not written again. Small images, beside the convolution's
    filters, stay as they are.

    Before:
    ```mlir
    %s = ingot.mul %x, %factors : (tensor<1x32x8x8xf32>, tensor<1x32x1x1xf32>) -> tensor<1x32x8x8xf32>
    %r = ingot.conv %s, %w ...
    ```
    After:
    ```mlir
    %r = ingot.scaled_pointwise %x, %w factors %factors ...
    ```
  }];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def FormBlocksPass : Pass<"form-blocks", "::mlir::func::FuncOp"> {
  let summary = "joins a depthwise convolution with the 1x1 convolution before it and the means of its result";
  let description = [{
    What is made between them then stays in the cache, some rows of some channels at a time, and the means are made of
    numbers that are still in registers.

    Before:
    ```mlir
    %e = ingot.conv %x, %v {activation = 5 : i32, ...} : (tensor<1x16x8x8xf32>, tensor<96x16x1x1xf32>) -> tensor<1x96x8x8xf32>
    %d = ingot.conv %e, %w {groups = 96 : i64, ...} : (tensor<1x96x8x8xf32>, tensor<96x1x3x3xf32>) -> tensor<1x96x8x8xf32>
    %m = ingot.adaptive_avg_pool %d {output = array<i64: 1, 1>} : (tensor<1x96x8x8xf32>) -> tensor<1x96x1x1xf32>
    ```
    After:
    ```mlir
    %d, %m = ingot.depthwise_block %x, %w expand %v ...
    ```
  }];
  let dependentDialects = ["::ingot::IngotDialect"];
}

def FormClustersPass : Pass<"form-clusters", "::mlir::func::FuncOp"> {
  let summary = "groups element-wise ops, and reductions over the last dimensions, into clusters";
  let description = [{
    Every element-wise op that codegen can compile ends in a cluster, alone if need be. Ops share a cluster when they
    run over one shape and no value leaves the cluster and comes back. Ops on weights and constants only have
    clusters of their own, since they run once, when the program is loaded.

    Before:
    ```mlir
    %0 = ingot.add %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    %1 = ingot.relu %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
    After:
    ```mlir
    %1 = ingot.cluster(%x, %y) {
    ^bb0(%a: tensor<2x3xf32>, %b: tensor<3xf32>):
      %2 = ingot.add %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
      %3 = ingot.relu %2 : (tensor<2x3xf32>) -> tensor<2x3xf32>
      ingot.yield %3 : tensor<2x3xf32>
    } : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let dependentDialects = ["::ingot::IngotDialect"];
}

#endif
