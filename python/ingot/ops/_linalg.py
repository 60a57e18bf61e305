"""Ops of the dialect: linalg.

Made by docs/ops_module.py from src/dialect/LinalgOps.td. Do not edit; run `make docs`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ingot import _build as build
from ingot._build import Operand
from ingot.ir import Type, Value


def cholesky(
    x: Operand, upper: bool, check: str = "", *, result_types: Sequence[Type] | None = None, loc: object = None
) -> tuple[Value, ...]:
    """triangular factor of a positive-definite matrix, and 0 or the order of the first minor that is not."""
    x = build.tensor(x)
    attributes = {
        "upper": build.boolean(upper),
        "check": build.string(check),
    }
    return build.several("cholesky", [x], attributes, result_types=result_types)


def lu(
    x: Operand, check: str = "", *, result_types: Sequence[Type] | None = None, loc: object = None
) -> tuple[Value, ...]:
    """LU factors in one matrix, LAPACK's pivots (from 1), and 0 or the number of the first zero on the diagonal of
    U.
    """
    x = build.tensor(x)
    return build.several("lu", [x], {"check": build.string(check)}, result_types=result_types)


def lu_solve(
    lu: Operand, pivots: Operand, b: Operand, adjoint: bool, *, result_type: Type | None = None, loc: object = None
) -> Value:
    """solution of A X = B (Aᴴ X = B with `adjoint`) from the LU factors of A."""
    lu = build.tensor(lu)
    pivots = build.tensor(pivots)
    b = build.tensor(b)
    return build.single("lu_solve", [lu, pivots, b], {"adjoint": build.boolean(adjoint)}, result_type=result_type)


def lu_det(
    lu: Operand, pivots: Operand, *, result_types: Sequence[Type] | None = None, loc: object = None
) -> tuple[Value, ...]:
    """determinant from LU factors, its sign (or phase), and the logarithm of its magnitude."""
    lu = build.tensor(lu)
    pivots = build.tensor(pivots)
    return build.several("lu_det", [lu, pivots], {}, result_types=result_types)


def lu_permutation(like: Operand, pivots: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """the permutation matrix P of A = P L U, from pivots; `like` gives its number of rows and its element type."""
    like = build.tensor(like)
    pivots = build.tensor(pivots)
    return build.single("lu_permutation", [like, pivots], {}, result_type=result_type)


def inverse(
    x: Operand, check: str = "", *, result_types: Sequence[Type] | None = None, loc: object = None
) -> tuple[Value, ...]:
    """inverse, and 0 or the number of the first zero pivot."""
    x = build.tensor(x)
    return build.several("inverse", [x], {"check": build.string(check)}, result_types=result_types)


def qr(x: Operand, *, result_types: Sequence[Type] | None = None, loc: object = None) -> tuple[Value, ...]:
    """R above the Householder vectors of Q, and their factors, as LAPACK's geqrf gives them."""
    x = build.tensor(x)
    return build.several("qr", [x], {}, result_types=result_types)


def householder(a: Operand, tau: Operand, full: bool, *, result_type: Type | None = None, loc: object = None) -> Value:
    """the first columns of the product of Householder reflections: as many as the vectors have, or with `full` all."""
    a = build.tensor(a)
    tau = build.tensor(tau)
    return build.single("householder", [a, tau], {"full": build.boolean(full)}, result_type=result_type)


def reflect(
    a: Operand,
    tau: Operand,
    c: Operand,
    left: bool,
    adjoint: bool,
    *,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """product of Q, given by Householder vectors, and another matrix: Q C, or with `left` false C Q; Qᴴ with
    `adjoint`.
    """
    a = build.tensor(a)
    tau = build.tensor(tau)
    c = build.tensor(c)
    attributes = {
        "left": build.boolean(left),
        "adjoint": build.boolean(adjoint),
    }
    return build.single("reflect", [a, tau, c], attributes, result_type=result_type)


def eigh(
    x: Operand, upper: bool, *, result_types: Sequence[Type] | None = None, loc: object = None
) -> tuple[Value, ...]:
    """eigenvalues, in ascending order, and eigenvectors (columns) of a Hermitian matrix, of which one triangle is
    read.
    """
    x = build.tensor(x)
    return build.several("eigh", [x], {"upper": build.boolean(upper)}, result_types=result_types)


def eig(x: Operand, *, result_types: Sequence[Type] | None = None, loc: object = None) -> tuple[Value, ...]:
    """eigenvalues and eigenvectors (columns of length 1) of any square matrix, as complex numbers."""
    x = build.tensor(x)
    return build.several("eig", [x], {}, result_types=result_types)


def svd(x: Operand, full: bool, *, result_types: Sequence[Type] | None = None, loc: object = None) -> tuple[Value, ...]:
    """singular values in descending order, between their left vectors (columns) and right vectors (rows); `full`
    makes both square.
    """
    x = build.tensor(x)
    return build.several("svd", [x], {"full": build.boolean(full)}, result_types=result_types)


def triangular_solve(
    a: Operand, b: Operand, upper: bool, unit: bool, *, result_type: Type | None = None, loc: object = None
) -> Value:
    """solution of A X = B for a triangular matrix A, whose diagonal counts as ones if `unit`."""
    a = build.tensor(a)
    b = build.tensor(b)
    attributes = {
        "upper": build.boolean(upper),
        "unit": build.boolean(unit),
    }
    return build.single("triangular_solve", [a, b], attributes, result_type=result_type)


def ldl(
    x: Operand, hermitian: bool, check: str = "", *, result_types: Sequence[Type] | None = None, loc: object = None
) -> tuple[Value, ...]:
    """LDL factors of a symmetric or Hermitian matrix by its lower triangle, and LAPACK's pivots: those of sytrf
    and hetrf.
    """
    x = build.tensor(x)
    attributes = {
        "hermitian": build.boolean(hermitian),
        "check": build.string(check),
    }
    return build.several("ldl", [x], attributes, result_types=result_types)


def ldl_solve(
    ld: Operand, pivots: Operand, b: Operand, hermitian: bool, *, result_type: Type | None = None, loc: object = None
) -> Value:
    """solution of A X = B from the LDL factors of A."""
    ld = build.tensor(ld)
    pivots = build.tensor(pivots)
    b = build.tensor(b)
    return build.single("ldl_solve", [ld, pivots, b], {"hermitian": build.boolean(hermitian)}, result_type=result_type)


def lstsq(
    a: Operand, b: Operand, rcond: float, *, result_types: Sequence[Type] | None = None, loc: object = None
) -> tuple[Value, ...]:
    """shortest X that minimises |A X - B|, the rank of A and its singular values; those below `rcond` times the
    largest count as zeros.
    """
    a = build.tensor(a)
    b = build.tensor(b)
    return build.several("lstsq", [a, b], {"rcond": build.real(rcond)}, result_types=result_types)


def matrix_exp(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """exponential of a square matrix."""
    x = build.tensor(x)
    return build.single("matrix_exp", [x], {}, result_type=result_type)


def adjoint(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """conjugate transpose."""
    x = build.tensor(x)
    return build.single("adjoint", [x], {}, result_type=result_type)


def check_info(info: Operand, name: str, *, result_type: Type | None = None, loc: object = None) -> Value:
    """its operand, or an error where a factorisation failed: where `info` has an element that is not zero.

    It has an effect, so that it stays although nobody uses its result.
    """
    info = build.tensor(info)
    return build.single("check_info", [info], {"name": build.string(name)}, result_type=result_type)
