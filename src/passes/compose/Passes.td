#ifndef INGOT_COMPOSE_PASSES_TD
#define INGOT_COMPOSE_PASSES_TD

include "mlir/Pass/PassBase.td"

def AttachBodiesPass : Pass<"attach-bodies", "::mlir::ModuleOp"> {
  let summary = "Turn nodes whose operator has a body in the module into calls of it";
  let description = [{
    A body takes the weights it names before the operands of the node. Bodies become private.
  }];
  let dependentDialects = ["::ingot::IngotDialect", "::mlir::func::FuncDialect"];
}

def DeclareCompositesPass : Pass<"declare-composites", "::mlir::ModuleOp"> {
  let summary = "Put operators that other compilers have whole into functions that declare them";
  let description = [{
    Norms, pooling, attention and a few others become calls of private functions with a `composite_decl`. Their bodies are the
    same nodes, which are lowered like all others.
  }];
  let dependentDialects = ["::ingot::IngotDialect", "::mlir::func::FuncDialect"];
}

def ShareBodiesPass : Pass<"share-bodies", "::mlir::ModuleOp"> {
  let summary = "Keep one of several bodies that compute the same, and none that nobody calls";
}

def InlineBodiesPass : Pass<"inline-bodies", "::mlir::ModuleOp"> {
  let summary = "Put native forms of composites, or else their bodies, where they are called";
  let dependentDialects = ["::ingot::IngotDialect"];
}

#endif
