"""Products of chosen matrices, as a mixture of experts needs them."""

from __future__ import annotations

import torch

from ingot.composite_ops._common import CompositeVersion


class GatherMM(torch.nn.Module):
    """The composite `gather_mm`: chooses matrices along axis `num_batch_axes` of either operand and multiplies them."""

    version = CompositeVersion.V1

    def __init__(self, num_batch_axes: int = 0) -> None:
        super().__init__()
        self.num_batch_axes = num_batch_axes

    def forward(
        self,
        lhs: torch.Tensor,
        rhs: torch.Tensor,
        lhs_indices: torch.Tensor | None = None,
        rhs_indices: torch.Tensor | None = None,
    ) -> torch.Tensor:
        return torch.matmul(self._gather(lhs, lhs_indices), self._gather(rhs, rhs_indices))

    def _gather(self, operand: torch.Tensor, indices: torch.Tensor | None) -> torch.Tensor:
        """The indices' shape takes the place of the axis."""
        if indices is None:
            return operand
        axis = self.num_batch_axes
        chosen = torch.index_select(operand, axis, indices.to(torch.int32).reshape(-1))
        return chosen.reshape(*operand.shape[:axis], *indices.shape, *operand.shape[axis + 1 :])
