// Factorisations and solvers of matrices.
#ifndef INGOT_LINALG_OPS_TD
#define INGOT_LINALG_OPS_TD

include "OpBase.td"

/// Works on each matrix of a batch: the last two dimensions are rows and columns, the leading ones are the same for
/// all operands and results. Vectors have one dimension of their own, numbers none. Everything is computed in double
/// precision and rounded once. `check` is empty, or the PyTorch function whose error a failure becomes.
class Ingot_MatrixOp<string mnemonic, string what, string example, dag args, dag outs>
  : Ingot_Op<mnemonic, []> {
  let summary = what;
  let description = "```mlir\n" # example # "\n```";
  let arguments = args;
  let results = outs;
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def Ingot_CholeskyOp : Ingot_MatrixOp<"cholesky",
    "triangular factor of a positive-definite matrix, and 0 or the order of the first minor that is not",
    "%f, %info = ingot.cholesky %x {upper = false, check = \"\"} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<i32>)",
    (ins Ingot_Tensor:$x, BoolAttr:$upper, StrAttr:$check), (outs Ingot_Tensor:$factor, Ingot_Tensor:$info)>;

def Ingot_LuOp : Ingot_MatrixOp<"lu",
    "LU factors in one matrix, LAPACK's pivots (from 1), and 0 or the number of the first zero on the diagonal of U",
    "%lu, %p, %info = ingot.lu %x {check = \"\"} : (tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xi32>, tensor<i32>)",
    (ins Ingot_Tensor:$x, StrAttr:$check),
    (outs Ingot_Tensor:$lu, Ingot_Tensor:$pivots, Ingot_Tensor:$info)>;

def Ingot_LuSolveOp : Ingot_MatrixOp<"lu_solve",
    "solution of A X = B (Aᴴ X = B with `adjoint`) from the LU factors of A",
    "%x = ingot.lu_solve %lu, %p, %b {adjoint = false} : (tensor<3x3xf32>, tensor<3xi32>, tensor<3x2xf32>) -> tensor<3x2xf32>",
    (ins Ingot_Tensor:$lu, Ingot_Tensor:$pivots, Ingot_Tensor:$b, BoolAttr:$adjoint), (outs Ingot_Tensor:$result)>;

def Ingot_LuDetOp : Ingot_MatrixOp<"lu_det",
    "determinant from LU factors, its sign (or phase), and the logarithm of its magnitude",
    "%d, %s, %l = ingot.lu_det %lu, %p : (tensor<3x3xf32>, tensor<3xi32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)",
    (ins Ingot_Tensor:$lu, Ingot_Tensor:$pivots),
    (outs Ingot_Tensor:$det, Ingot_Tensor:$sign, Ingot_Tensor:$logabs)>;

def Ingot_LuPermutationOp : Ingot_MatrixOp<"lu_permutation",
    "the permutation matrix P of A = P L U, from pivots; `like` gives its number of rows and its element type",
    "%p = ingot.lu_permutation %lu, %pivots : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<3x3xf32>",
    (ins Ingot_Tensor:$like, Ingot_Tensor:$pivots), (outs Ingot_Tensor:$result)>;

def Ingot_InverseOp : Ingot_MatrixOp<"inverse",
    "inverse, and 0 or the number of the first zero pivot",
    "%r, %info = ingot.inverse %x {check = \"linalg.inv\"} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<i32>)",
    (ins Ingot_Tensor:$x, StrAttr:$check), (outs Ingot_Tensor:$result, Ingot_Tensor:$info)>;

def Ingot_QrOp : Ingot_MatrixOp<"qr",
    "R above the Householder vectors of Q, and their factors, as LAPACK's geqrf gives them",
    "%a, %tau = ingot.qr %x : (tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>)",
    (ins Ingot_Tensor:$x), (outs Ingot_Tensor:$a, Ingot_Tensor:$tau)>;

def Ingot_HouseholderOp : Ingot_MatrixOp<"householder",
    "the first columns of the product of Householder reflections: as many as the vectors have, or with `full` all",
    "%q = ingot.householder %a, %tau {full = false} : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>",
    (ins Ingot_Tensor:$a, Ingot_Tensor:$tau, BoolAttr:$full), (outs Ingot_Tensor:$result)>;

def Ingot_ReflectOp : Ingot_MatrixOp<"reflect",
    "product of Q, given by Householder vectors, and another matrix: Q C, or with `left` false C Q; Qᴴ with `adjoint`",
    "%r = ingot.reflect %a, %tau, %c {left = true, adjoint = false} : (tensor<3x2xf32>, tensor<2xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>",
    (ins Ingot_Tensor:$a, Ingot_Tensor:$tau, Ingot_Tensor:$c, BoolAttr:$left, BoolAttr:$adjoint),
    (outs Ingot_Tensor:$result)>;

def Ingot_EighOp : Ingot_MatrixOp<"eigh",
    "eigenvalues, in ascending order, and eigenvectors (columns) of a Hermitian matrix, of which one triangle is read",
    "%w, %v = ingot.eigh %x {upper = false} : (tensor<3x3xf32>) -> (tensor<3xf32>, tensor<3x3xf32>)",
    (ins Ingot_Tensor:$x, BoolAttr:$upper), (outs Ingot_Tensor:$values, Ingot_Tensor:$vectors)>;

def Ingot_EigOp : Ingot_MatrixOp<"eig",
    "eigenvalues and eigenvectors (columns of length 1) of any square matrix, as complex numbers",
    "%w, %v = ingot.eig %x : (tensor<3x3xf32>) -> (tensor<3xcomplex<f32>>, tensor<3x3xcomplex<f32>>)",
    (ins Ingot_Tensor:$x), (outs Ingot_Tensor:$values, Ingot_Tensor:$vectors)>;

def Ingot_SvdOp : Ingot_MatrixOp<"svd",
    "singular values in descending order, between their left vectors (columns) and right vectors (rows); `full` makes both square",
    "%u, %s, %v = ingot.svd %x {full = false} : (tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<2xf32>, tensor<2x2xf32>)",
    (ins Ingot_Tensor:$x, BoolAttr:$full), (outs Ingot_Tensor:$u, Ingot_Tensor:$s, Ingot_Tensor:$vh)>;

def Ingot_TriangularSolveOp : Ingot_MatrixOp<"triangular_solve",
    "solution of A X = B for a triangular matrix A, whose diagonal counts as ones if `unit`",
    "%x = ingot.triangular_solve %a, %b {upper = true, unit = false} : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>",
    (ins Ingot_Tensor:$a, Ingot_Tensor:$b, BoolAttr:$upper, BoolAttr:$unit), (outs Ingot_Tensor:$result)>;

def Ingot_LdlOp : Ingot_MatrixOp<"ldl",
    "LDL factors of a symmetric or Hermitian matrix by its lower triangle, and LAPACK's pivots: those of sytrf and hetrf",
    "%ld, %p, %info = ingot.ldl %x {hermitian = false, check = \"\"} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xi32>, tensor<i32>)",
    (ins Ingot_Tensor:$x, BoolAttr:$hermitian, StrAttr:$check),
    (outs Ingot_Tensor:$ld, Ingot_Tensor:$pivots, Ingot_Tensor:$info)>;

def Ingot_LdlSolveOp : Ingot_MatrixOp<"ldl_solve",
    "solution of A X = B from the LDL factors of A",
    "%x = ingot.ldl_solve %ld, %p, %b {hermitian = false} : (tensor<3x3xf32>, tensor<3xi32>, tensor<3x2xf32>) -> tensor<3x2xf32>",
    (ins Ingot_Tensor:$ld, Ingot_Tensor:$pivots, Ingot_Tensor:$b, BoolAttr:$hermitian), (outs Ingot_Tensor:$result)>;

def Ingot_LstsqOp : Ingot_MatrixOp<"lstsq",
    "shortest X that minimises |A X - B|, the rank of A and its singular values; those below `rcond` times the largest count as zeros",
    "%x, %rank, %s = ingot.lstsq %a, %b {rcond = 1.0e-6 : f64} : (tensor<3x2xf32>, tensor<3x4xf32>) -> (tensor<2x4xf32>, tensor<i64>, tensor<2xf32>)",
    (ins Ingot_Tensor:$a, Ingot_Tensor:$b, F64Attr:$rcond),
    (outs Ingot_Tensor:$result, Ingot_Tensor:$rank, Ingot_Tensor:$values)>;

def Ingot_MatrixExpOp : Ingot_MatrixOp<"matrix_exp", "exponential of a square matrix",
    "%r = ingot.matrix_exp %x : (tensor<3x3xf32>) -> tensor<3x3xf32>",
    (ins Ingot_Tensor:$x), (outs Ingot_Tensor:$result)>;

def Ingot_AdjointOp : Ingot_MatrixOp<"adjoint", "conjugate transpose",
    "%r = ingot.adjoint %x : (tensor<3x2xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>",
    (ins Ingot_Tensor:$x), (outs Ingot_Tensor:$result)>;

def Ingot_CheckInfoOp : Op<Ingot_Dialect, "check_info", []> {
  let summary = "its operand, or an error where a factorisation failed: where `info` has an element that is not zero";
  let description = [{
    It has an effect, so that it stays although nobody uses its result.
    ```mlir
    %r = ingot.check_info %info {name = "linalg.inv"} : (tensor<i32>) -> tensor<i32>
    ```
  }];
  let arguments = (ins Ingot_Tensor:$info, StrAttr:$name);
  let results = (outs Ingot_Tensor:$result);
  let assemblyFormat = "$info attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif
