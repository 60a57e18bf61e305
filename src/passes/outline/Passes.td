#ifndef INGOT_OUTLINE_PASSES_TD
#define INGOT_OUTLINE_PASSES_TD

include "mlir/Pass/PassBase.td"

def OutlinePass : Pass<"outline", "::mlir::ModuleOp"> {
  let summary = "makes every function a straight run of steps, or a list of calls";
  let description = [{
    The runtime plans a straight run of steps at once, which it cannot do across a value whose size depends on data, a branch
    or a loop. Sub-graphs become private functions; a function that holds such an op is cut into private functions
    around it, and calls them.

    Before:
    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<?x1xi64> {
      %y = ingot.relu %x
      %i = ingot.nonzero %y
      %r = ingot.neg %i
      return %r
    }
    ```
    After:
    ```mlir
    func.func private @main.0(%x) { %y = ingot.relu %x  return %y }
    func.func private @main.1(%i) { %r = ingot.neg %i   return %r }
    func.func @main(%x: tensor<4xf32>) -> tensor<?x1xi64> {
      %y = ingot.invoke %x {kind = "call", functions = ["main.0"]}
      %i = ingot.nonzero %y
      %r = ingot.invoke %i {kind = "call", functions = ["main.1"]}
      return %r
    }
    ```
  }];
  let dependentDialects = ["::ingot::IngotDialect", "::mlir::func::FuncDialect"];
}

#endif
