"""What every learner promises, one function per promise: `LEARNER_CHECKS`, or all of them at once, `check_learner`.

A check takes a learner (an instance, with settings that fit in a second) and a `World`; it returns nothing, or raises
AssertionError saying what was promised and what came.
"""

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, get_args
from unittest.mock import patch

import numpy as np
import torch

from openworld.core.errors import OpenworldError
from openworld.learners import LEARNERS, TASKS, FittedLearner, Loop, configure, fit_together, load
from openworld.learners.engine.costs import tuned_parameters
from openworld.learners.engine.fitting import batches_of
from openworld.learners.engine.images import Consumes
from openworld.learners.engine.training import trainable
from openworld.testing._promises import by_name, check_all, require_refused
from openworld.testing._world import World, small_world

DATASETS = ("", "emoji-concepts", "imagenet", "oxford_pets", "dtd", "eurosat", "sun397")


def check_learner(learner: Any, world: World | None = None) -> None:
    """Check every promise of a learner.

    Args:
        learner: an instance with settings that are quick to fit on 28 images, such as three epochs.
        world: what to try it on; left out, `small_world()`.

    Raises:
        AssertionError: the first promise that is not kept.

    >>> from openworld.learners import ZeroShot
    >>> check_learner(ZeroShot())
    """
    check_all(LEARNER_CHECKS, getattr(learner, "name", type(learner).__name__), learner, world or small_world())


def describes_itself(learner, world: World) -> None:
    """A frozen dataclass that says what it is."""
    _require(is_dataclass(learner) and type(learner).__dataclass_params__.frozen, "a learner is a frozen dataclass")
    hash(learner)
    for said in ("name", "paper", "tunes", "cost"):
        _require(getattr(learner, said, None), f"{said} is a text that is not empty", getattr(learner, said, None))
    consumed = get_args(Consumes)
    _require(learner.consumes in consumed, f"consumes is one of {', '.join(consumed)}", learner.consumes)
    _require(learner.depends_on_other_names in (True, False), "depends_on_other_names is True or False")


def survives_json(learner, world: World) -> None:
    """Its settings, written as JSON and read again, make the same learner."""
    settings = json.loads(json.dumps(asdict(learner)))
    again = configure(type(learner), settings)
    _require(again == learner, f"settings read from JSON make {learner}", again)


def has_published_settings(learner, world: World) -> None:
    """`published` knows every task, and takes any data set."""
    for task in TASKS:
        for dataset in DATASETS:
            published = type(learner).published(dataset, task)
            _require(type(published) is type(learner), f"published({dataset!r}, {task!r}) is such a learner", published)


def can_be_counted(learner, world: World) -> None:
    """What it tunes can be counted on a backbone whose weights are all zero."""
    _require(tuned_parameters(learner, len(world.shots.classnames), world.clip.config) >= 0, "a count is not negative")


def gives_a_loss(learner, world: World) -> None:
    """Its loss is a function: finite 0-d terms, twice the same, parameters left alone, gradients for them."""
    if not hasattr(learner, "start"):
        return
    generator, names = torch.Generator().manual_seed(1), world.shots.classnames
    parameters = trainable(learner.start(world.clip, names, generator))
    before = {name: tensor.detach().clone() for name, tensor in parameters.items()}
    prepared = learner.prepare(world.clip, names)
    images, labels = _first_batch(learner, world, generator)
    once, twice = (learner.loss(world.clip, parameters, images, labels, prepared) for _ in range(2))
    for name, term in once.items():
        _require(term.dim() == 0 and term.isfinite(), f"the loss term {name} is one finite number", term)
        _require(torch.equal(term, twice[name]), f"the loss term {name} is the same for the same batch", twice[name])
    once["total"].backward()
    gradients = [tensor.grad for tensor in parameters.values() if tensor.grad is not None]
    _require(any(gradient.any() for gradient in gradients), "the total has a gradient for some parameter")
    _require(all(gradient.isfinite().all() for gradient in gradients), "gradients are finite")
    for name, tensor in parameters.items():
        _require(torch.equal(tensor, before[name]), f"computing a loss leaves {name} as it is")


def fits_the_same_again(learner, world: World) -> None:
    """Equal seeds give equal parameters, bit by bit; another seed gives others."""
    once, other = _fit(learner, world, 1), _fit(learner, world, 2)
    again = learner.fit(world.clip, world.shots, seed=1)
    _require(isinstance(once, FittedLearner), "fit returns a FittedLearner", once)
    names = tuple(world.shots.classnames)
    _require(once.classnames == names, "FittedLearner.classnames are the training names in order")
    for name, tensor in once.parameters.items():
        _require(torch.equal(tensor, again.parameters[name]), f"the same seed gives the same {name}")
    differ = [name for name, tensor in once.parameters.items() if not torch.equal(tensor, other.parameters[name])]
    _require(differ or not once.parameters, "another seed gives other parameters")


def leaves_the_backbone_alone(learner, world: World) -> None:
    """Fitting neither changes the backbone nor leaves gradients behind."""
    before = {name: tensor.clone() for name, tensor in world.clip.state_dict().items()}
    fitted = learner.fit(world.clip, world.shots, seed=1)
    for name, tensor in world.clip.state_dict().items():
        _require(torch.equal(tensor, before[name]), f"the backbone's {name} is as it was before")
    for name, parameter in world.clip.named_parameters():
        _require(not parameter.requires_grad and parameter.grad is None, f"the backbone's {name} stays frozen")
    for name, tensor in fitted.parameters.items():
        _require(not tensor.requires_grad, f"the learned {name} is detached")


def lowers_its_loss(learner, world: World) -> None:
    """Training lowers the loss: from the first epoch to the last, or else on the same batch before and after."""
    # Every epoch draws other views, which moves its mean loss by some percent; few epochs may learn less than that.
    fitted = _fit(learner, world)
    if not fitted.history or fitted.history[-1]["total"] < fitted.history[0]["total"]:
        return
    start = learner.start(world.clip, world.shots.classnames, torch.Generator().manual_seed(1))
    comparable = start.keys() == fitted.parameters.keys()
    before, after = (_loss(learner, world, each) for each in (start, fitted.parameters)) if comparable else (0.0, 0.0)
    first, last = fitted.history[0]["total"], fitted.history[-1]["total"]
    _require(after < before, f"training lowers the loss of {first:g}", last)


def _first_batch(learner, world: World, generator: torch.Generator):
    return next(batches_of(learner, world.clip, world.shots, generator, getattr(learner, "loop", Loop()))(0))


def _loss(learner, world: World, parameters) -> float:
    """The loss of parameters on the first batch that a generator of seed 1 draws."""
    images, labels = _first_batch(learner, world, torch.Generator().manual_seed(1))
    prepared = learner.prepare(world.clip, world.shots.classnames)
    return float(learner.loss(world.clip, trainable(parameters), images, labels, prepared)["total"].detach())


def fits_seeds_together(learner, world: World) -> None:
    """Several seeds fitted side by side give what each gives alone, up to the order of sums."""
    both = fit_together(learner, world.clip, [world.shots, world.shots], seeds=(1, 2))
    for seed, fitted in zip((1, 2), both, strict=True):
        for name, tensor in _fit(learner, world, seed).parameters.items():
            distance = float((fitted.parameters[name] - tensor).abs().max())
            promise = f"fitted together, seed {seed} gives the {name} that it gives alone"
            _require(distance <= 1e-3 * float(tensor.abs().max()), promise, f"a difference of {distance:g}")


def answers(learner, world: World) -> None:
    """Finite float32 logits for every name, base names first, and one finite baseness per image."""
    fitted, bank = _with_bank(learner, world)
    answer = fitted.answer(world.shots, bank)
    images, base, new = len(world.shots), len(world.shots.classnames), len(world.new)
    _require(answer.logits.shape == (images, base + new), f"logits are [{images}, {base + new}]", answer.logits.shape)
    _require(answer.baseness.shape == (images,), f"baseness is [{images}]", answer.baseness.shape)
    among_base = fitted.logits(world.shots, bank, "base")
    _require(among_base.shape == (images, base), f"logits among base names are [{images}, {base}]", among_base.shape)
    for name, array in (("logits", answer.logits), ("baseness", answer.baseness), ("base logits", among_base)):
        _require(array.dtype == np.float32, f"{name} are float32", array.dtype)
        _require(np.isfinite(array).all(), f"{name} are finite", array[~np.isfinite(array)])


def answers_each_image_alone(learner, world: World) -> None:
    """What it says about an image does not depend on the images beside it; no image is fine too."""
    fitted, bank = _with_bank(learner, world)
    together, alone = (fitted.answer(images, bank) for images in (world.shots, world.shots.select(np.arange(1))))
    _close(together.logits[:1], alone.logits, "the logits of an image are the same alone and in company")
    _close(together.baseness[:1], alone.baseness, "the baseness of an image is the same alone and in company")
    none = fitted.answer(world.shots.select(np.arange(0)), bank)
    _require(len(none.logits) == len(none.baseness) == 0, "no image gets no answer", none.logits.shape)


def orders_columns_by_name(learner, world: World) -> None:
    """Names in another order give the same columns in that order."""
    fitted, bank = _with_bank(learner, world)
    turned = fitted.text_bank(world.shots.classnames, world.new[::-1])
    expected = fitted.logits(world.shots, bank, "new")[:, ::-1]
    _close(expected, fitted.logits(world.shots, turned, "new"), "the columns follow the order of the names")


def says_whether_names_matter(learner, world: World) -> None:
    """Without `depends_on_other_names`, new names leave the base logits as they are."""
    fitted, bank = _with_bank(learner, world)
    alone = fitted.text_bank(world.shots.classnames)
    _require(fitted.logits(world.shots, alone, "new").shape == (len(world.shots), 0), "there may be no new name")
    if not learner.depends_on_other_names:
        with_new, without = (fitted.logits(world.shots, names, "base") for names in (bank, alone))
        _close(with_new, without, "base logits do not depend on other names, or depends_on_other_names is True")


def reads_underscores_as_spaces(learner, world: World) -> None:
    """A class named "wild_dog" is a class named "wild dog"."""
    fitted = _fit(learner, world)
    names = world.shots.classnames
    ours, spaced = (fitted.text_bank(given, ("wild_dog",)) for given in (names, [n.replace("_", " ") for n in names]))
    _close(fitted.logits(world.shots, ours), fitted.logits(world.shots, spaced), '"_" in a name is read as a space')


def answers_one_name_per_half(learner, world: World) -> None:
    """Names at test time may be fewer than in training: one base name and one new one, or one very long one."""
    fitted = _fit(learner, world)
    for new in (world.new[0], "very " * 30 + "old lamp"):
        bank = fitted.text_bank(world.shots.classnames[:1], (new,))
        logits = fitted.logits(world.shots, bank)
        _require(np.isfinite(logits).all() and logits.shape[1] == 2, f"one base name and {new!r} get finite logits")


def names_a_part_of_its_classes(learner, world: World) -> None:
    """Some of the training names, in any order, get the logits that they get among all; a variant may show no more."""
    fitted, bank = _with_bank(learner, world)
    part, names = [4, 1, 2], world.shots.classnames
    for new in (world.new, ()):  # and it may show no new class
        fewer = fitted.text_bank([names[place] for place in part], new)
        ours, all_of_them = fitted.logits(world.shots, fewer, "base"), fitted.logits(world.shots, bank, "base")
        if not learner.depends_on_other_names:
            _close(ours, all_of_them[:, part], "base logits follow the names, not their places in training")
        _require(np.isfinite(fitted.baseness(world.shots, fewer)).all(), "baseness is finite for a part of the names")


def refuses_bad_names(learner, world: World) -> None:
    """Names that occur twice or do not fit are refused with a sentence, in training and after."""
    fitted, names = _fit(learner, world), world.shots.classnames
    _refuses(lambda: fitted.text_bank(names, (names[0].upper(),)), "a new name that is a base name")
    _refuses(lambda: fitted.text_bank(names, ("very " * 90 + "old lamp",)), "a name longer than the text tower reads")
    twice = replace(world.shots, classnames=(names[1], *names[1:]))
    _refuses(lambda: learner.fit(world.clip, twice, seed=1), "two training classes of one name")


def refuses_missing_images(learner, world: World) -> None:
    """No image to learn from, or images encoded without what it consumes, are refused with a sentence."""
    if not hasattr(learner, "start"):
        return
    nothing = world.shots.select(np.arange(0))
    _refuses(lambda: learner.fit(world.clip, nothing, seed=1), "a fit on no image")
    if learner.consumes != "embeddings":
        plain = replace(world.shots, views=None, view_patches=None, view_pixels=None)
        _refuses(lambda: learner.fit(world.clip, plain, seed=1), "a fit without the augmented views that it consumes")


def copes_with_few_classes(learner, world: World) -> None:
    """Two classes or one: it fits and gives finite answers, or refuses with a sentence."""
    for count in (1, 2):
        few = world.shots.of_classes(np.arange(count))
        try:
            fitted = learner.fit(world.clip, few, seed=1)
        except OpenworldError:
            continue
        logits = fitted.logits(few, fitted.text_bank(few.classnames, world.new))
        _require(np.isfinite(logits).all(), f"fitted on {count} class(es), its logits are finite")


def stays_wide_in_half_precision(learner, world: World) -> None:
    """On a bfloat16 backbone its parameters are float32 and its answers finite."""
    half = small_world(torch.bfloat16)
    fitted = learner.fit(half.clip, half.shots, seed=1)
    for name, tensor in fitted.parameters.items():
        _require(tensor.dtype == torch.float32, f"{name} is float32 on a bfloat16 backbone", tensor.dtype)
    logits = fitted.logits(half.shots, fitted.text_bank(half.shots.classnames, half.new))
    _require(np.isfinite(logits).all(), "logits are finite on a bfloat16 backbone")


def is_saved_and_loaded(learner, world: World) -> None:
    """Saved and loaded, it is the same learner and gives the same bits."""
    fitted, bank = _with_bank(learner, world)
    # A learner need not be installed yet to be tested: for the time of this check it counts as one of ours.
    with tempfile.TemporaryDirectory() as folder, patch.dict(LEARNERS, {learner.name: type(learner)}):
        fitted.save(folder)
        again = load(Path(folder), world.clip)
    _require(again.learner == learner, f"loaded, it is {learner}", again.learner)
    ours = fitted.answer(world.shots, bank)
    theirs = again.answer(world.shots, again.text_bank(world.shots.classnames, world.new))
    _require(np.array_equal(ours.logits, theirs.logits), "loaded, it gives the same logits")
    _require(np.array_equal(ours.baseness, theirs.baseness), "loaded, it gives the same baseness")


LEARNER_CHECKS: Mapping[str, Callable[[object, World], None]] = by_name(
    describes_itself,
    survives_json,
    has_published_settings,
    can_be_counted,
    gives_a_loss,
    fits_the_same_again,
    leaves_the_backbone_alone,
    lowers_its_loss,
    fits_seeds_together,
    answers,
    answers_each_image_alone,
    orders_columns_by_name,
    says_whether_names_matter,
    reads_underscores_as_spaces,
    answers_one_name_per_half,
    names_a_part_of_its_classes,
    refuses_bad_names,
    refuses_missing_images,
    copes_with_few_classes,
    stays_wide_in_half_precision,
    is_saved_and_loaded,
)
"""Name -> check; to be run one by one, for instance as parameters of a pytest test."""


@lru_cache(maxsize=8)
def _fit(learner, world: World, seed: int = 1) -> FittedLearner:
    return learner.fit(world.clip, world.shots, seed=seed)


def _with_bank(learner, world: World):
    fitted = _fit(learner, world)
    return fitted, fitted.text_bank(world.shots.classnames, world.new)


def _require(kept: object, promise: str, came: object = None) -> None:
    if not kept:
        raise AssertionError(f"promised: {promise}" + ("" if came is None else f"; came: {came!r}"))


def _close(ours: np.ndarray, theirs: np.ndarray, promise: str) -> None:
    # Another batch is another order of sums: float32 logits of size 100 move by some 1e-5.
    distance = float(np.abs(ours - theirs).max(initial=0))
    _require(ours.shape == theirs.shape and distance <= 1e-3, promise, f"a difference of {distance:g}")


_refuses = partial(require_refused, by=OpenworldError)
