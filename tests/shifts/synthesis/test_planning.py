"""A plan: equal cells, its report, and names and seeds that depend on what they should."""

import collections
from dataclasses import replace

import numpy as np
import pytest

from openworld.core.errors import OpenworldError
from openworld.shifts import ShiftGrid
from openworld.shifts.synthesis import Prompts, plan_synthesis


def test_the_report_counts_what_was_drawn(plan):
    report, cells = plan.report(), zip(plan.covariate.tolist(), plan.semantic.tolist(), strict=True)
    assert collections.Counter(cells) == {(0, 0): 5, (0, 1): 5, (1, 0): 5} and plan.count == 5
    assert report["candidates"] == [[7, 2], [3, 0]]
    assert report["unique"] == [[5, 2], [3, 0]]
    assert report["most_repeats"] == [[1, 3], [2, 0]]
    assert (report["images"], report["unique_prompts"], report["left_out"]) == (15, 10, [[1, 1]])
    for cell in ((0, 0), (0, 1), (1, 0)):
        drawn = plan.prompt[(plan.covariate == cell[0]) & (plan.semantic == cell[1])]
        assert len(set(drawn)) == report["unique"][cell[0]][cell[1]]
        assert max(collections.Counter(drawn).values()) == report["most_repeats"][cell[0]][cell[1]]


def test_a_repeated_prompt_has_new_noise_and_every_image_a_file(plan):
    orders = [plan.commission(number) for number in range(len(plan))]
    assert len({order.seed for order in orders}) == len({order.file for order in orders}) == 15
    assert max(plan.repeat) == 2
    assert all(0 <= order.seed < 2**63 for order in orders)
    order = orders[7]
    label, style = divmod(int(plan.prompt[7]), 4)
    assert order.file == f"covariate-0/semantic-1/2_{label}_{style}.png"
    assert (order.label, order.style) == (plan.prompts.labels[label], plan.prompts.styles[style].name)
    assert (order.text, order.cell) == (plan.prompts.text(int(plan.prompt[7])), (0, 1))


def test_a_seed_follows_from_the_order_alone(plan, prompts):
    more = Prompts(("apple", *prompts.labels), prompts.styles)
    other = plan_synthesis(more, ShiftGrid([0] * 16, [0] * 16, (1, 1)), 16, seed=3)
    first = {(o.label, o.style): o.seed for o in map(plan.commission, range(15)) if plan.repeat[o.number] == 0}
    there = {(o.label, o.style): o.seed for o in map(other.commission, range(16))}
    assert {order: there[order] for order in first} == first
    assert plan.commission(0, attempt=1).seed != plan.commission(0).seed
    assert replace(plan, seed=4).commission(0).seed != plan.commission(0).seed


def test_the_fingerprint_knows_the_seed_the_draw_and_the_words(plan, prompts):
    grid = ShiftGrid(np.zeros(12, int), np.zeros(12, int), (1, 1))
    plans = [plan_synthesis(prompts, grid, count, seed=seed) for count in (5, 6) for seed in (0, 1)]
    plans.append(plan_synthesis(Prompts(prompts.labels, prompts.styles[::-1]), grid, 5))
    assert len({one.fingerprint for one in (*plans, plan)}) == 6
    assert plan_synthesis(prompts, grid, 5).fingerprint == plans[0].fingerprint
    assert plans[0].prompt.tolist() != plans[1].prompt.tolist()


def test_wrong_requests_are_refused(prompts):
    with pytest.raises(OpenworldError, match="the grid is of 1 prompts, but there are 12"):
        plan_synthesis(prompts, ShiftGrid([0], [0], (1, 1)), 5)
    with pytest.raises(OpenworldError, match="no cell has 13 prompts"):
        plan_synthesis(prompts, ShiftGrid([0] * 12, [0] * 12, (1, 1), least=13), 5)
