"""The schedule, the batches and the loop, by hand."""

import pytest
import torch

from openworld import OpenworldError
from openworld.learners import Schedule
from openworld.learners.engine.training import Loop, draw_batches, draw_batches_by_class, minimise


def sizes(count, **settings):
    return [len(batch) for batch in draw_batches(count, Schedule(**settings), torch.Generator().manual_seed(0))]


@pytest.mark.parametrize(
    ("count", "drop_last", "expected"),
    [(70, True, [32, 32]), (70, False, [32, 32, 6]), (64, True, [32, 32]), (20, True, [20]), (32, True, [32])],
)
def test_the_last_batch_is_left_out_only_where_a_full_one_stands_before_it(count, drop_last, expected):
    assert sizes(count, drop_last=drop_last) == expected


def test_every_image_once_per_epoch_in_another_order():
    generator = torch.Generator().manual_seed(0)
    one, two = (torch.cat(draw_batches(9, Schedule(batch_size=4, drop_last=False), generator)) for _ in range(2))
    assert one.sort().values.tolist() == two.sort().values.tolist() == list(range(9))
    assert one.tolist() != two.tolist()


def test_batches_of_one_class_leave_out_what_is_over():
    labels, schedule = torch.tensor([0, 1] * 5 + [1]), Schedule(batch_size=2)
    generator = torch.Generator().manual_seed(0)
    epochs = [draw_batches_by_class(labels, schedule, generator) for _ in range(20)]
    for batches in epochs:
        assert sorted(int(labels[batch[0]]) for batch in batches) == [0, 0, 1, 1, 1]
        assert all(len(batch) == 2 and len(set(labels[batch].tolist())) == 1 for batch in batches)
        assert len(torch.cat(batches).unique()) == 10
    assert len({tuple(torch.cat(batches).tolist()) for batches in epochs}) > 10
    fewer = draw_batches_by_class(torch.tensor([0, 0, 0, 1]), schedule, generator)
    assert torch.cat(fewer).sort().values.tolist() == [0, 1, 2, 3]


def test_the_cosine_starts_after_the_warm_up_and_never_ends_at_zero():
    schedule = Schedule(epochs=4, learning_rate=1.0)
    assert schedule.rate(0) == 1e-5
    assert [round(schedule.rate(epoch), 4) for epoch in (1, 2, 3)] == [1.0, 0.8536, 0.5]
    plain = Schedule(epochs=4, learning_rate=1.0, warmup=False, cosine_epochs=2)
    assert [round(plain.rate(epoch), 4) for epoch in range(3)] == [1.0, 0.5, 0.0]


NOTHING = Loop()


def descend(schedule, loop=NOTHING, loss=lambda weight: weight * weight):
    """The weight that is left of 2 after one batch an epoch, and the history."""
    learned, history = minimise(
        {"weight": torch.tensor(2.0)},
        lambda parameters, images, labels: {"total": loss(parameters["weight"])},
        lambda epoch: iter([(None, None)]),
        schedule,
        loop,
    )
    return float(learned["weight"]), history


PLAIN = {"epochs": 1, "learning_rate": 0.1, "momentum": 0, "weight_decay": 0, "warmup": False}
OF_ITS_OWN = Loop(gradient=lambda terms, parameters: {"weight": torch.tensor(1.0)})
FASTER = Loop(rate_factors={"weight": 5.0})
STEPS = [  # what is said of the schedule, the loop, and what is left of the weight, whose gradient is twice itself
    ({}, NOTHING, 1.6),
    # Gradient 4 + 0.5 * 2 = 5, weight 1.5; then 3 + 0.75 + 0.9 * 5 = 8.25 at half the rate.
    ({"epochs": 2, "momentum": 0.9, "weight_decay": 0.5}, NOTHING, 1.5 - 0.05 * 8.25),
    ({}, OF_ITS_OWN, 1.9),
    ({}, FASTER, 2 - 5 * 0.1 * 4),
    ({"warmup": True}, FASTER, 2 - 1e-5 * 4),
    ({"warmup": True}, Loop(warmup_rate=1e-3), 2 - 1e-3 * 4),
    # Half of 0.1 and half of the floor: 2 - 0.1 * 4 = 1.6, then 1.6 - 0.07 * 3.2.
    ({"epochs": 2}, Loop(floor=0.04), 1.6 - 0.07 * 3.2),
    # 1.6 after the first epoch; then the rate is halved: 1.6 - 0.05 * 3.2.
    ({"epochs": 2}, Loop(epoch_weights=(0.25, 0.75)), 0.25 * 1.6 + 0.75 * 1.44),
    # AdamW: a step of the rate against the gradient's sign, and rate * decay of the weight.
    ({"optimizer": "AdamW", "weight_decay": 0.5}, NOTHING, 2 - 0.1 * 0.5 * 2 - 0.1),
    ({"optimizer": "Adam"}, NOTHING, 1.9),
    ({"optimizer": "Adam", "adam_epsilon": 4.0}, NOTHING, 1.95),  # gradient 4: 0.1 * 4 / (4 + 4)
]


@pytest.mark.parametrize(("settings", "loop", "left"), STEPS)
def test_steps_by_hand(settings, loop, left):
    weight, history = descend(Schedule(**PLAIN | settings), loop)
    assert weight == pytest.approx(left, abs=1e-5 if "optimizer" in settings else 1e-9, rel=1e-6)
    assert history[0] == {"total": 4.0}


def test_a_loss_that_is_not_finite_is_told():
    with pytest.raises(OpenworldError, match="diverged"):
        descend(Schedule(**PLAIN | {"epochs": 3, "learning_rate": 1e30}))


def test_a_factor_acts_on_all_weights_of_a_part():
    loop = Loop(rate_factors={"image": 5.0, "image.b": 2.0})
    learned, _ = minimise(
        {name: torch.tensor(2.0) for name in ("image.a", "image.b", "text.a")},
        lambda weights, images, labels: {"total": sum(weights.values())},
        lambda epoch: iter([(None, None)]),
        Schedule(**PLAIN),
        loop,
    )
    assert [round(2 - float(weight), 6) for weight in learned.values()] == [0.5, 0.2, 0.1]


def test_rates_per_step_and_constant_ones():
    per_step = Schedule(epochs=9, learning_rate=1.0, warmup=False, decay="per step", cosine_epochs=4)
    assert [round(per_step.rate(0, step), 4) for step in (0, 2, 4, 8)] == [1.0, 0.5, 0.0, 1.0]
    assert Schedule(epochs=9, learning_rate=0.3, warmup=False, decay="none").rate(8) == 0.3


def test_a_step_that_does_not_fit_in_memory_is_refused_and_the_batch_is_not_made_smaller():
    def full(weight):
        raise torch.cuda.OutOfMemoryError("CUDA out of memory.")

    with pytest.raises(OpenworldError, match="step of 16 images does not fit.*--workers.*bfloat16"):
        descend(Schedule(batch_size=16), loss=full)
