"""The schedule, the batches and the loop, by hand."""

import pytest
import torch

from openworld import OpenworldError
from openworld.learners import Schedule
from openworld.learners._training import _batches, train


def sizes(count, **settings):
    return [len(batch) for batch in _batches(count, Schedule(**settings), torch.Generator().manual_seed(0))]


@pytest.mark.parametrize(
    ("count", "drop_last", "expected"),
    [(70, True, [32, 32]), (70, False, [32, 32, 6]), (64, True, [32, 32]), (20, True, [20]), (32, True, [32])],
)
def test_the_last_batch_is_left_out_only_where_a_full_one_stands_before_it(count, drop_last, expected):
    assert sizes(count, drop_last=drop_last) == expected


def test_every_image_once_per_epoch_in_another_order():
    generator = torch.Generator().manual_seed(0)
    one, two = (torch.cat(_batches(9, Schedule(batch_size=4, drop_last=False), generator)) for _ in range(2))
    assert one.sort().values.tolist() == two.sort().values.tolist() == list(range(9))
    assert one.tolist() != two.tolist()


def test_the_cosine_starts_after_the_warm_up_and_never_ends_at_zero():
    schedule = Schedule(epochs=4, learning_rate=1.0)
    assert schedule.rate(0) == 1e-5
    assert [round(schedule.rate(epoch), 4) for epoch in (1, 2, 3)] == [1.0, 0.8536, 0.5]
    plain = Schedule(epochs=4, learning_rate=1.0, warmup=False, cosine_epochs=2)
    assert [round(plain.rate(epoch), 4) for epoch in range(3)] == [1.0, 0.5, 0.0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"epochs": 0},
        {"batch_size": 0},
        {"cosine_epochs": 0},
        {"learning_rate": -1.0},
        {"momentum": float("nan")},
        {"weight_decay": -1e-3},
    ],
    ids=str,
)
def test_numbers_out_of_range_are_refused(wrong):
    (name,) = wrong
    with pytest.raises(OpenworldError, match=f"{name} is .*, expected"):
        Schedule(**wrong)


def one_step(schedule):
    weight = torch.tensor(2.0, requires_grad=True)
    history = train(
        {"weight": weight},
        lambda embeddings, labels: {"total": weight * weight},
        lambda rows: (rows, rows),
        1,
        schedule,
        torch.Generator().manual_seed(0),
    )
    return float(weight.detach()), history


def test_a_step_of_plain_descent():
    # 2 - 0.1 * 2 * 2
    weight, history = one_step(Schedule(epochs=1, learning_rate=0.1, momentum=0, weight_decay=0, warmup=False))
    assert weight == pytest.approx(1.6)
    assert history == ({"total": 4.0},)


def test_weight_decay_acts_on_prompts_and_momentum_keeps_going():
    # Gradient 4 + 0.5 * 2 = 5, weight 1.5; then 3 + 0.75 + 0.9 * 5 = 8.25 at half the rate.
    settings = {"learning_rate": 0.1, "momentum": 0.9, "weight_decay": 0.5, "warmup": False}
    assert one_step(Schedule(epochs=2, **settings))[0] == pytest.approx(1.5 - 0.05 * 8.25)


def test_a_loss_that_is_not_finite_is_told():
    with pytest.raises(OpenworldError, match="diverged"):
        one_step(Schedule(epochs=3, learning_rate=1e30, momentum=0, weight_decay=0, warmup=False))
