"""Plan which images to label: labels are spent where the number depends on them, as far as anything shows where.

Three designs with known inclusion probabilities, of which `design` chooses. Batches add up: a later plan takes what is
labelled as known, and the weight of each batch, its share of the labels, is fixed in the plan before its own labels are
seen, so that nothing depends on how they turn out. A pilot of a quarter of the labels at random, then the rest: the
second plan's proxies are recalibrated on the pilot, and its labels go where they then tell most, if they tell more.
"""

from dataclasses import replace

import numpy as np

from openworld._arrays import ArrayLike, as_fractions, as_labels, require_at_least, require_length
from openworld._errors import OpenworldError, unknown_name
from openworld._types import checked
from openworld.labels.design import (
    DesignChoice,
    Earlier,
    candidates,
    choice_of,
    draw_probabilities,
    known_images,
    recalibrated_streams,
)
from openworld.labels.inclusion import CERTAIN, draw_each, draw_from_strata, influence_spread, sizes, strata
from openworld.labels.label_plan import LabelPlan, PlanSettings
from openworld.labels.scored_stream import ScoredStream
from openworld.metrics import SOFT_QUANTITIES

Streams = ScoredStream | tuple[ScoredStream, ...]
FEWEST = 2
STREAM = 0x6C6162656C
"""Begins the random numbers of draws, so that they are not those with which somebody simulated images at that seed."""


@checked
def plan(
    streams: Streams, n: int, *, of: str = "openworld_auc", settings: PlanSettings | None = None, earlier: Earlier = ()
) -> LabelPlan:
    """Draw n images to label.

    Args:
        streams: what one model says of N images, or (first, second) to measure the difference of two models.
        n: how many to label, 2 to N; the Poisson design draws about as many.
        of: what the draw serves, one of SOFT_QUANTITIES; "overall_accuracy" is plain accuracy. Of two models with
            names, only images whose names differ are drawn for it: the others cannot change the difference.
        settings: design, seed and the like.
        earlier: (plan, answers) of the batches before this one, in order; their labels recalibrate the proxies.
    Returns:
        LabelPlan; label `plan.chosen` and pass the answers to `estimate`.
    Raises:
        OpenworldError: more labels than images, an unknown quantity, proxies that expect nothing on one side.
    Source: Neyman (1934) for q; Zrnic and Candes (2024), "Active statistical inference", for proxies.

    >>> from openworld.labels import scored_stream
    >>> s = np.arange(40) / 40
    >>> drawn = plan(scored_stream(s, s / 2, (1 - s) / 2, s), 10)
    >>> len(drawn), float(drawn.inclusion.sum().round(9))
    (10, 10.0)
    """
    streams, settings, known = read_after(streams, of, earlier), settings or PlanSettings(), known_images(earlier)
    may = candidates(streams, of)
    may[known] = False
    require_at_least(FEWEST, n=n)
    if n > np.count_nonzero(may):
        raise OpenworldError(f"{n} labels were asked for, but there are {np.count_nonzero(may)} images to label.")
    tau = influence_spread(streams, of)
    settings = replace(settings, design=choice_of(streams, tau, n, of, settings, earlier).design)
    q = draw_probabilities(streams, tau, may, n, of, settings)
    generator = np.random.default_rng((STREAM, settings.seed))
    if settings.design == "poisson":
        stratum, chosen = np.where(may, 0, CERTAIN), draw_each(np.where(may, q, 0.0), generator)
    else:
        images = np.flatnonzero(may)
        ranked = images[np.argsort(q[images], kind="stable")]
        stratum = np.where(may, 0, CERTAIN) if settings.design == "random" else strata(ranked, q, n)
        drawn = sizes(stratum, q, n)
        chosen = draw_from_strata(stratum, drawn, generator)
        q = np.where(may, (drawn / np.bincount(stratum[may]))[stratum], 1.0)
    counts = [*(len(each) for each, _ in earlier), n]
    weights = tuple(count / sum(counts) for count in counts)
    prints = tuple(each.fingerprint for each, _ in earlier)
    return LabelPlan(streams, of, settings, chosen, q, stratum, np.where(may, tau, 0.0), known, prints, weights)


@checked
def choose_design(
    streams: Streams, n: int, *, of: str = "openworld_auc", settings: PlanSettings | None = None, earlier: Earlier = ()
) -> DesignChoice:
    """Say how `plan` would draw n images to label, and why.

    Args:
        streams, n, of, settings, earlier: as for `plan`.
    Returns:
        DesignChoice; with `settings.design` "auto" at random, unless 25 labels or more of `earlier` show that drawing
        by the proxies needs clearly less variance.

    >>> from openworld.labels import closed_set_stream
    >>> choose_design(closed_set_stream([0.5, 0.9, 0.7]), 2, of="overall_accuracy").design
    'random'
    """
    streams = read_after(streams, of, earlier)
    return choice_of(streams, influence_spread(streams, of), n, of, settings or PlanSettings(), earlier)


@checked
def plan_from_draw(
    streams: Streams, chosen: ArrayLike, inclusion: ArrayLike | None = None, *, of: str = "openworld_auc"
) -> LabelPlan:
    """Describe labels that were drawn elsewhere, at random, as a plan.

    Args:
        streams: as for `plan`. chosen: int[n], the images that are labelled, each once.
        inclusion: float[N] in (0, 1], the probability with which each image was drawn, independently of the others;
            None: n images were drawn at random, all alike. Labels that came for another reason (a customer complained)
            are no draw, and nothing that is computed from them holds.
    """
    streams = read_streams(streams, of)
    size, chosen = len(streams[0]), as_labels(chosen, "chosen")
    if np.unique(chosen).size < chosen.size or chosen.max(initial=0) >= size:
        raise OpenworldError(f"chosen names an image twice, or one beyond the {size} there are; name each once.")
    design, q = "random", np.full(size, chosen.size / size)
    if inclusion is not None:
        design, q = "poisson", as_fractions(inclusion, "inclusion")
        require_length(q, "inclusion", size)
        if not q.min() > 0:
            raise OpenworldError("inclusion holds 0; an image that cannot be drawn leaves the number unknown.")
    tau, everywhere = influence_spread(streams, of), np.zeros(size, int)
    return LabelPlan(streams, of, PlanSettings(design), chosen, q, everywhere, tau, np.zeros(0, int))


def read_streams(streams: Streams, of: str) -> tuple[ScoredStream, ...]:
    streams = streams if isinstance(streams, tuple) else (streams,)
    if of not in SOFT_QUANTITIES:
        raise unknown_name("quantity", of, SOFT_QUANTITIES)
    if len(streams) not in (1, 2) or len({len(stream) for stream in streams}) > 1:
        lengths = ", ".join(str(len(stream)) for stream in streams)
        raise OpenworldError(f"streams of {lengths} images came, expected one model, or two on the same images.")
    return streams


def read_after(streams: Streams, of: str, earlier: Earlier) -> tuple[ScoredStream, ...]:
    """Return one or two models, their proxies recalibrated on the labels of earlier batches."""
    streams = read_streams(streams, of)
    before = earlier[-1][0].streams if earlier else streams
    pairs = zip(streams, before, strict=False)
    same = len(streams) == len(before) and all(np.array_equal(own.scores, other.scores) for own, other in pairs)
    if not same:
        raise OpenworldError("the earlier batch is of other models or images; plan all batches on the same scores.")
    return recalibrated_streams(streams, earlier)
