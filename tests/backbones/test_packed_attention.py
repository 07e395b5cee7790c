"""Packed attention and the MLP of a block: equal, in value and gradients, to their definitions in plain operations."""

import pytest
import torch
import torch.nn.functional as F

from openworld.backbones.blocks import Block, quick_gelu
from openworld.backbones.packing import Packing, attend_packed, pack_lengths, plan_attention, unshare

HEADS, WIDTH = 2, 6
CASES = {
    "padded": pack_lengths([[3, 2, 5, 2]], 3, spare=1),
    "one bucket": pack_lengths([[3, 2, 5, 2]], 3, spare=100),
    "a bucket each": pack_lengths([[1, 4]], 2),
    "nothing shared": pack_lengths([[3, 2]], 0, spare=9),
    "two lists": pack_lengths([[3, 2, 5], [4, 1, 2]], 2, spare=2),
    "own copies": unshare(pack_lengths([[3, 2, 2]], 4, spare=9)),
}


def attend_row_by_row(packing: Packing, only_ends: bool, rows: torch.Tensor) -> torch.Tensor:
    """One query at a time over the start token, the shared rows and the earlier rows of its sentence."""
    total, groups = packing.rows, len(rows)
    asking = packing.ends.expand(groups, -1) if only_ends else torch.arange(total).expand(groups, -1)
    count = asking.shape[1]
    query, key, value, start_key, start_value = rows.split([count, total, total, 1, 1], dim=1)
    found = []
    for group in range(groups):
        for place, row in enumerate(asking[group].tolist()):
            own = [int(start) for start in packing.starts if start <= row]
            seen = [*range(packing.shared), *(range(own[-1], row + 1) if own else [])]
            seen = [other for other in seen if other <= row]
            keys = torch.cat([start_key[group], key[group, seen]]).unflatten(1, (HEADS, -1))
            values = torch.cat([start_value[group], value[group, seen]]).unflatten(1, (HEADS, -1))
            weights = torch.einsum("hd,khd->hk", query[group, place].unflatten(0, (HEADS, -1)), keys).softmax(-1)
            found.append(torch.einsum("hk,khd->hd", weights, values).flatten())
    return torch.stack(found).unflatten(0, (groups, -1))


def inputs(packing: Packing, only_ends: bool, *lead: int, groups: int = 2) -> torch.Tensor:
    count = (len(packing.lengths) if only_ends else packing.rows) + 2 * packing.rows + 2
    random = torch.Generator().manual_seed(0)
    return torch.randn(*lead, groups, count, WIDTH, dtype=torch.float64, generator=random)


@pytest.mark.parametrize("only_ends", [False, True], ids=["all rows", "end rows"])
@pytest.mark.parametrize("case", CASES)
def test_equals_one_query_at_a_time(case, only_ends):
    packing = CASES[case]
    rows = inputs(packing, only_ends).requires_grad_()
    plan = plan_attention(packing, only_ends, len(rows), HEADS, rows)
    ours, theirs = attend_packed(rows, plan), attend_row_by_row(packing, only_ends, rows)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)
    direction = torch.randn(ours.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    ours, theirs = (torch.autograd.grad(one, rows, direction)[0] for one in (ours, theirs))
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("only_ends", [False, True], ids=["all rows", "end rows"])
def test_can_be_mapped_over(only_ends):
    packing = CASES["padded"]
    rows = inputs(packing, only_ends, 3)
    plan = plan_attention(packing, only_ends, rows.shape[1], HEADS, rows)
    gradient = torch.func.grad(lambda rows: attend_packed(rows, plan).sin().sum())
    apart = torch.stack([gradient(one) for one in rows])
    torch.testing.assert_close(torch.func.vmap(gradient)(rows), apart, rtol=0, atol=1e-12)
    rows.requires_grad_()
    mapped = torch.func.vmap(lambda rows: attend_packed(rows, plan))(rows)
    torch.testing.assert_close(torch.autograd.grad(mapped.sin().sum(), rows)[0], apart, rtol=0, atol=1e-12)


def test_a_second_derivative_equals_finite_differences():
    packing = CASES["padded"]
    rows = inputs(packing, False).requires_grad_()
    plan = plan_attention(packing, False, len(rows), HEADS, rows)
    assert torch.autograd.gradgradcheck(lambda rows: attend_packed(rows, plan), rows, fast_mode=True)


@pytest.fixture
def block():
    torch.manual_seed(0)
    return Block(WIDTH, HEADS, 9, "quick_gelu", 1e-5).double().requires_grad_(False)


def test_an_mlp_equals_its_layers(block):
    rows = torch.randn(2, 3, WIDTH, dtype=torch.float64).requires_grad_()
    plain = block.down(F.linear(rows, block.up.weight, block.up.bias).mul(1.702).sigmoid() * block.up(rows))
    torch.testing.assert_close(block.mlp(rows), plain, rtol=0, atol=1e-14)
    assert torch.autograd.gradcheck(block.mlp, rows)
    assert torch.autograd.gradgradcheck(block.mlp, rows)


def test_an_mlp_can_be_mapped_over(block):
    rows = torch.randn(4, 3, WIDTH, dtype=torch.float64)
    gradient = torch.func.grad(lambda rows: block.mlp(rows).sin().sum())
    torch.testing.assert_close(torch.func.vmap(gradient)(rows), torch.stack([gradient(one) for one in rows]))


def test_weights_that_learn_get_their_gradients(block):
    rows = torch.randn(3, WIDTH, dtype=torch.float64)
    for weight in (block.up.weight, block.up.bias, block.down.weight, block.down.bias):
        weight.requires_grad_()
        (ours,) = torch.autograd.grad(block.mlp(rows).sum(), weight)
        (theirs,) = torch.autograd.grad(block.down(quick_gelu(block.up(rows))).sum(), weight)
        torch.testing.assert_close(ours, theirs)
        weight.requires_grad_(False)
