"""The gated delta rule of linear attention."""

from __future__ import annotations

import torch

from ingot.composite_ops._common import CompositeVersion, repeat_heads, require


class GatedDeltaUpdate(torch.nn.Module):
    """The composite `gated_delta_update`; attribute `use_qk_l2_norm`.

    Query and key `[B, H, S, Dk]`, value `[B, H, S, Dv]`, g and beta `[B, H, S]`, state `[B, H, Dk, Dv]`. Each step
    decays the state by exp(g), reads the memory of the key from the decayed state, writes what the value differs from
    it, and reads the query. Gives the output `[B, S, H, Dv]` and the last state, both in the query's type. Fewer
    heads of query and key are repeated to those of value.
    """

    version = CompositeVersion.V1

    def __init__(self, use_qk_l2_norm: bool = True) -> None:
        super().__init__()
        self.use_qk_l2_norm = use_qk_l2_norm

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        g: torch.Tensor,
        beta: torch.Tensor,
        initial_state: torch.Tensor,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        dtype = query.dtype
        heads = value.shape[1]
        for name, x in (("query", query), ("key", key)):
            require(heads % x.shape[1] == 0, f"GatedDeltaUpdate: the heads of value must be a multiple of {name}'s")
        if self.use_qk_l2_norm:
            query, key = _l2_norm(query), _l2_norm(key)
        query, key, value, g, beta = (x.to(torch.float32) for x in (query, key, value, g, beta))
        query = repeat_heads(query * query.shape[-1] ** -0.5, heads)
        key = repeat_heads(key, heads)
        carried = (
            torch.zeros((), dtype=torch.int64, device=query.device),
            initial_state.to(torch.float32),
            torch.zeros_like(value),
        )
        # The operator itself: the function around it would compile the loop when it runs outside of an export.
        _, state, output = torch.ops.higher_order.while_loop(
            _has_step, _step, carried, (query, key, value, torch.exp(g), beta)
        )
        return output.transpose(1, 2).to(dtype), state.to(dtype)


def _l2_norm(x: torch.Tensor) -> torch.Tensor:
    return x * torch.rsqrt((x * x).sum(dim=-1, keepdim=True) + 1e-6)


def _has_step(
    step: torch.Tensor,
    state: torch.Tensor,
    output: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    decay: torch.Tensor,
    beta: torch.Tensor,
) -> torch.Tensor:
    return step < value.shape[2]


def _step(
    step: torch.Tensor,
    state: torch.Tensor,
    output: torch.Tensor,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    decay: torch.Tensor,
    beta: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    index = step.reshape(1)
    # [B, H, 1, D] rows of this step; keys stand upright, so that they span the state with a row.
    q, k = query.index_select(2, index).transpose(2, 3), key.index_select(2, index).transpose(2, 3)
    state = state * decay.index_select(2, index).unsqueeze(-1)
    memory = (state * k).sum(dim=2, keepdim=True)
    delta = (value.index_select(2, index) - memory) * beta.index_select(2, index).unsqueeze(-1)
    state = state + k * delta
    return step + 1, state, output.index_copy(2, index, (state * q).sum(dim=2, keepdim=True))
