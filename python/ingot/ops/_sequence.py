"""Ops of the dialect: sequence.

Made by docs/ops_module.py from src/dialect/SequenceOps.td. Do not edit; run `make docs`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ingot import _build as build
from ingot._build import Operand
from ingot.ir import Type, Value


def recurrent(
    gates: Operand,
    h: Operand,
    weight: Operand,
    c: Operand | None = None,
    bias: Operand | None = None,
    projection: Operand | None = None,
    batch_sizes: Operand | None = None,
    *,
    cell: str,
    reverse: bool,
    result_types: Sequence[Type] | None = None,
    loc: object = None,
) -> tuple[Value, ...]:
    """one layer and direction of a recurrent network, all of its steps.

    `gates` is what the inputs contribute, [T, B, G * H], with their bias; or [sum of batch sizes, G * H] where
    `batch_sizes` [T] says how
    many rows each step has, longest sequences first. `h` is [B, P], `c` [B, H] for the cell lstm, `weight` [G *
    H, P], `bias` [G * H], and
    `projection` [P, H] makes P from H. The cells are lstm, gru, tanh and relu, their gates ordered as in
    PyTorch. Results: the sequence of
    hidden states, the last hidden state and, for lstm, the last cell state.
    """
    gates = build.tensor(gates)
    h = build.tensor(h)
    weight = build.tensor(weight)
    c = build.optional(c)
    bias = build.optional(bias)
    projection = build.optional(projection)
    batch_sizes = build.optional(batch_sizes)
    attributes = {
        "cell": build.string(cell),
        "reverse": build.boolean(reverse),
    }
    return build.several(
        "recurrent",
        [gates, h, weight, c, bias, projection, batch_sizes],
        attributes,
        grouped=True,
        result_types=result_types,
    )


def gated_delta(
    query: Operand,
    key: Operand,
    value: Operand,
    decay: Operand,
    beta: Operand,
    state: Operand,
    *,
    result_types: Sequence[Type] | None = None,
    loc: object = None,
) -> tuple[Value, ...]:
    """the gated delta rule of linear attention, all of its steps.

    `query` and `key` are [B, H, S, K], `value` [B, H, S, V], `decay` and `beta` [B, H, S], `state` [B, H, K,
    V], all of type f32. Each step
    multiplies the state by its decay, takes what the value differs from the key's memory, times beta, writes it
    at the key,
    and reads the query. Results: what was read, [B, H, S, V], and the last state.
    """
    query = build.tensor(query)
    key = build.tensor(key)
    value = build.tensor(value)
    decay = build.tensor(decay)
    beta = build.tensor(beta)
    state = build.tensor(state)
    return build.several("gated_delta", [query, key, value, decay, beta, state], {}, result_types=result_types)


def ctc_loss(
    log_probs: Operand,
    targets: Operand,
    input_lengths: Operand,
    target_lengths: Operand,
    blank: int,
    *,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """negative log likelihood of label sequences under all alignments (connectionist temporal classification).

    `log_probs` is [T, N, C]; `targets` [N, S] or all labels one after another; the lengths are [N].
    """
    log_probs = build.tensor(log_probs)
    targets = build.tensor(targets)
    input_lengths = build.tensor(input_lengths)
    target_lengths = build.tensor(target_lengths)
    attributes = {
        "blank": build.integer(blank),
    }
    return build.single(
        "ctc_loss", [log_probs, targets, input_lengths, target_lengths], attributes, result_type=result_type
    )


def embedding_bag(
    table: Operand,
    indices: Operand,
    offsets: Operand,
    weights: Operand | None = None,
    *,
    mode: str,
    include_last_offset: bool,
    padding: int,
    result_types: Sequence[Type] | None = None,
    loc: object = None,
) -> tuple[Value, ...]:
    """sum, mean or maximum of the rows of a table that each bag of indices names.

    Bag b holds the indices from offsets[b] to the next offset. With `include_last_offset` the last offset ends
    the last bag. `padding` is
    the index that does not count, -1 for none. `weights` multiplies every row. Empty bags give zeros. Results:
    the bags, and the
    number of rows in each.
    """
    table = build.tensor(table)
    indices = build.tensor(indices)
    offsets = build.tensor(offsets)
    weights = build.optional(weights)
    attributes = {
        "mode": build.string(mode),
        "include_last_offset": build.boolean(include_last_offset),
        "padding": build.integer(padding),
    }
    return build.several("embedding_bag", [table, indices, offsets, weights], attributes, result_types=result_types)
