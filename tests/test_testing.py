"""The contract suite that plug-ins are invited to use: it passes what keeps its promises, and catches what does not."""

import importlib
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import torch
from torch.nn.functional import normalize

import openworld.testing
from openworld import OpenworldError
from openworld.learners import CoOp, NameSets, Schedule, ZeroShot
from openworld.learners.engine.costs import tuned_parameters
from openworld.testing import LEARNER_CHECKS, check_learner, small_world

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "plug_in"
sys.path.append(str(EXAMPLE))

from halfway import Halfway  # noqa: E402


def test_the_example_keeps_every_promise():
    check_learner(Halfway(schedule=Schedule(epochs=2)))


@pytest.mark.parametrize(("share", "end"), [(1.0, CoOp(context_length=4)), (0.0, ZeroShot())])
def test_the_example_is_coop_at_one_end_and_zero_shot_at_the_other(share, end):
    world = small_world()
    names = NameSets(tuple(world.shots.classnames), world.new)
    context = {"context": torch.randn(4, 64, generator=torch.Generator().manual_seed(0))}
    ours, theirs = (learner.text_bank(world.clip, context, names).text for learner in (Halfway(share=share), end))
    torch.testing.assert_close(ours, theirs)


def test_the_suite_needs_no_test_framework(monkeypatch):
    monkeypatch.setattr(openworld, "testing", openworld.testing)
    for name in [name for name in sys.modules if name.startswith("openworld.testing")]:
        monkeypatch.delitem(sys.modules, name)
    for framework in ("pytest", "hypothesis"):
        monkeypatch.setitem(sys.modules, framework, None)  # as if it were not installed
    importlib.import_module("openworld.testing").check_learner(ZeroShot())


def test_the_small_world_is_always_the_same_and_draws_from_nobody():
    state = torch.random.get_rng_state()
    once, again = small_world.__wrapped__(), small_world.__wrapped__()
    assert torch.equal(state, torch.random.get_rng_state())
    assert once.clip.fingerprint == again.clip.fingerprint
    assert (once.shots.view_patches == again.shots.view_patches).all()


# Methods that break a promise, to be put in the place of the example's.


def published_for_one_task(cls, dataset):
    return cls()


def start_that_changes_a_weight(self, clip, classnames, generator):
    return {"context": clip.text.positions.add_(1.0)[:4].clone()}


def loss_that_writes(self, clip, parameters, images, labels, prepared):
    parameters["context"].data += 1e-3
    return Halfway.loss(self, clip, parameters, images, labels, prepared)


def loss_that_branches_on_a_value(self, clip, parameters, images, labels, prepared):
    total = Halfway.loss(self, clip, parameters, images, labels, prepared)["total"]
    return {"total": total if float(total.detach()) > 0 else 2 * total}


def fit_by_the_clock(self, clip, train, *, seed):
    return Halfway.fit(self, clip, train, seed=torch.seed() % 2**31)


def fit_the_backbone_too(self, clip, train, *, seed):
    clip.text.norm_out.bias.data += 1e-3
    return Halfway.fit(self, clip, train, seed=seed)


def fit_backwards(self, clip, train, *, seed):
    fitted = Halfway.fit(self, clip, train, seed=seed)
    start = self.start(clip, train.classnames, torch.Generator().manual_seed(seed))["context"]
    away = {"context": 2 * start - fitted.parameters["context"]}
    return replace(fitted, history=fitted.history[::-1], parameters=away)


def fit_in_half(self, clip, train, *, seed):
    fitted = Halfway.fit(self, clip, train, seed=seed)
    return replace(fitted, parameters={"context": fitted.parameters["context"].to(clip.dtype)})


def fit_on_whatever_is_there(self, clip, train, *, seed):
    return Halfway.fit(self, clip, small_world().shots, seed=seed)


def fit_on_three_classes_or_more(self, clip, train, *, seed):
    if len(train.classnames) < 3:
        raise IndexError("the third class")
    return Halfway.fit(self, clip, train, seed=seed)


def fit_and_remember(self, clip, train, *, seed):
    object.__setattr__(self, "secret", 1.0)
    return Halfway.fit(self, clip, train, seed=seed)


def changed_logits(change):
    def answer(self, clip, parameters, images, bank):
        given = Halfway.answer(self, clip, parameters, images, bank)
        return replace(given, logits=change(self, given.logits))

    return answer


def changed_names(change):
    def text_bank(self, clip, parameters, names):
        return Halfway.text_bank(self, clip, parameters, change(names))

    return text_bank


BROKEN = {
    "describes_itself": {"cost": ""},
    "survives_json": {"__annotations__": {"places": frozenset}, "places": frozenset()},
    "has_published_settings": {"published": classmethod(published_for_one_task)},
    "can_be_counted": {"start": start_that_changes_a_weight},
    "gives_a_loss": {"loss": loss_that_writes},
    "fits_the_same_again": {"fit": fit_by_the_clock},
    "leaves_the_backbone_alone": {"fit": fit_the_backbone_too},
    "lowers_its_loss": {"fit": fit_backwards},
    "fits_seeds_together": {"loss": loss_that_branches_on_a_value},
    "answers": {"answer": changed_logits(lambda self, logits: logits * torch.nan)},
    "answers_each_image_alone": {"answer": changed_logits(lambda self, logits: logits - logits.mean(dim=0))},
    "orders_columns_by_name": {"answer": changed_logits(lambda self, logits: logits.sort(dim=-1).values)},
    "says_whether_names_matter": {"answer": changed_logits(lambda self, logits: logits.log_softmax(dim=-1))},
    "reads_underscores_as_spaces": {
        "text_bank": changed_names(lambda names: replace(names, base=tuple(n.replace("_", "x") for n in names.base)))
    },
    "answers_one_name_per_half": {"text_bank": changed_names(lambda names: replace(names, base=names.training))},
    "names_a_part_of_its_classes": {
        "text_bank": changed_names(lambda names: replace(names, base=names.training[: len(names.base)]))
    },
    "refuses_bad_names": {
        "text_bank": changed_names(lambda names: replace(names, new=tuple(name[:60] for name in names.new)))
    },
    "refuses_missing_images": {"fit": fit_on_whatever_is_there},
    "copes_with_few_classes": {"fit": fit_on_three_classes_or_more},
    "stays_wide_in_half_precision": {"fit": fit_in_half},
    "is_saved_and_loaded": {
        "fit": fit_and_remember,
        "answer": changed_logits(lambda self, logits: logits + getattr(self, "secret", 0.0)),
    },
}


def broken(check):
    changed = dataclass(frozen=True)(type("Broken", (Halfway,), {"__annotations__": {}, **BROKEN[check]}))
    return changed(schedule=Schedule(epochs=2))


@pytest.mark.parametrize("check", LEARNER_CHECKS)
def test_each_check_catches_a_learner_that_breaks_its_promise(check):
    with pytest.raises((AssertionError, IndexError, OpenworldError, RuntimeError, TypeError)):
        LEARNER_CHECKS[check](broken(check), small_world.__wrapped__())


def test_a_failure_says_which_learner_broke_which_promise():
    with pytest.raises(AssertionError, match="copes_with_few_classes: IndexError: the third class"):
        check_learner(broken("copes_with_few_classes"))
    with pytest.raises(AssertionError, match="promised: cost is a text that is not empty; came: ''"):
        check_learner(broken("describes_itself"))


@dataclass(frozen=True)
class Slow(Halfway):
    """Starts at zero-shot CLIP and learns less in three epochs than the mean loss of an epoch moves by itself."""

    speed: float = 0.03
    name = "Slow"

    def start(self, clip, classnames, generator):
        return {"shift": torch.zeros(clip.config.joint_dimension, device=clip.device)}

    def _text(self, clip, parameters, prepared):
        return normalize(prepared[1] + self.speed * parameters["shift"], dim=-1)


def test_a_slow_learner_lowers_its_loss_and_one_that_stands_still_does_not():
    check, world, schedule = LEARNER_CHECKS["lowers_its_loss"], small_world(), Schedule(epochs=3)
    history = Slow(schedule=schedule).fit(world.clip, world.shots, seed=1).history
    assert history[-1]["total"] > history[0]["total"]
    check(Slow(schedule=schedule), world)
    with pytest.raises(AssertionError, match="training lowers the loss"):
        check(Slow(speed=-0.0, schedule=replace(schedule, learning_rate=0.0)), world)


def test_a_start_may_read_weights_but_change_none():
    @dataclass(frozen=True)
    class Reads(Slow):
        def start(self, clip, classnames, generator):
            return {"shift": torch.full_like(clip.text.positions[0], float(clip.logit_scale))}

    @dataclass(frozen=True)
    class Writes(Slow):
        def start(self, clip, classnames, generator):
            return start_that_changes_a_weight(self, clip, classnames, generator)

    learners = [learner(schedule=Schedule(epochs=3)) for learner in (Reads, Writes)]
    assert tuned_parameters(learners[0]) == 512
    with pytest.raises(AssertionError, match=r"can_be_counted.*clip\.config\.joint_dimension"):
        check_learner(learners[1])
