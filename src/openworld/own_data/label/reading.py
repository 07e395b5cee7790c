"""Answers of a plan as `openworld.labels` takes them: in the drawn order, as far as they make a sample of their own.

The images of a plan are in random order, so that the first of them are a random sample too (in strata: of each stratum,
as long as each has two). Answers behind a gap would be those that somebody chose to give; they wait. Images of which a
person cannot tell are no gap: they count as whatever lowers, and as whatever raises, a number most.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.labels import LabelAnswers, LabelPlan, label_answers, right_answers
from openworld.own_data.label.kept_plan import KeptBatch, KeptPlan
from openworld.own_data.label.question import ImageAnswer, Names, same_name
from openworld.own_data.label.worksheet import GivenAnswers, read_answers

UNSURE_SHARE = 0.1
"""Share of answers that may be "cannot tell"; of more, the bounds say nothing."""
FEWEST = 2  # labels of a stratum, where as many were drawn


@dataclass(frozen=True)
class LabelledBatches:
    """Batches with their answers, as far as they are a sample; of the last perhaps its first images alone."""

    plans: tuple[LabelPlan, ...]
    # of each image of the plans in order; None where a person cannot tell
    answers: tuple[tuple[ImageAnswer | None, ...], ...]
    images: tuple[KeptBatch, ...]  # the batches, cut alike
    waiting: int  # answers that are not used yet, since images before them have none
    missing: int  # images without an answer

    @property
    def unsure(self) -> list[tuple[Names, int]]:
        """The names and the row of each image of which a person cannot tell."""
        parts = zip(self.plans, self.images, self.answers, strict=True)
        return [
            (names, int(row))
            for plan, batch, own in parts
            for row, names, answer in zip(plan.chosen, batch.names, own, strict=True)
            if answer is None
        ]

    @property
    def used(self) -> int:
        return sum(map(len, self.answers))

    def filled(self, fills: Sequence[ImageAnswer] = ()) -> list[tuple[LabelPlan, LabelAnswers]]:
        """Return plans and answers, with `fills` in the place of the images that a person cannot tell."""
        rest, pairs = iter(fills), []
        for plan, own, batch in zip(self.plans, self.answers, self.images, strict=True):
            answers = [next(rest) if answer is None else answer for answer in own]
            right = np.array([answer.right for answer in answers], bool).reshape(len(answers), -1).T
            if answers[0].base is None:
                pairs.append((plan, right_answers(right)))
            else:
                base = np.array([answer.base for answer in answers], bool)
                among_all = _right_among_all(answers, batch)
                pairs.append((plan, label_answers(base, right & base, right & ~base, among_all)))
        return pairs

    @property
    def batches(self) -> list[tuple[LabelPlan, LabelAnswers]]:
        """Return the same with any fills: to draw more only needs which images are labelled."""
        return self.filled([names.read(names.options()[0].code) for names, _ in self.unsure])


def answers_in(kept: KeptPlan, folder: Path, files: Sequence[Path]) -> GivenAnswers:
    """Read the answers of a plan: those of the files, or of the worksheets and answers*.csv in its folder."""
    sheets = list(files)
    if not sheets:
        worksheets = [folder / batch.file("worksheet.csv", place) for place, batch in enumerate(kept.batches)]
        sheets = [path for path in worksheets if path.is_file()] + sorted(folder.glob("answers*.csv"))
    if not sheets:
        raise OpenworldError(f"{folder} holds no worksheet.csv and no answers*.csv; give the file with --answers.")
    names = {batch.mark: dict(zip(batch.ids, batch.names, strict=True)) for batch in kept.batches}
    return read_answers(sheets, names, kept.base_names, kept.new_names)


def labelled(kept: KeptPlan, answers: GivenAnswers) -> LabelledBatches:
    """Return the batches as far as their answers are a sample; refuse gaps that leave too little, too many unsure."""
    if not len(answers):
        files = ", ".join(answers.files)
        raise OpenworldError(f"no image of {files} has an answer; fill in the column answer, or use the page.")
    plans, given, images = [], [], []
    waiting = missing = 0
    for plan, batch in zip(kept.plans, kept.batches, strict=True):
        done = [own in answers.known or own in answers.unsure for own in batch.ids]
        whole = done.index(False) if False in done else len(done)
        missing += len(done) - sum(done)
        if missing and not whole and plans:  # a batch that has not been begun
            break
        plans.append(plan if whole == len(done) else first_images(plan, whole, sum(done)))
        images.append(replace(batch, ids=batch.ids[:whole], names=batch.names[:whole]))
        given.append(tuple(answers.known.get(own) for own in batch.ids[:whole]))
        waiting += sum(done[whole:])
        if missing:
            break
    labels = LabelledBatches(tuple(plans), tuple(given), tuple(images), waiting, missing)
    if len(labels.unsure) > UNSURE_SHARE * labels.used:
        raise OpenworldError(
            f'of {len(labels.unsure)} of {labels.used} images the answer is "cannot tell", more than '
            f"{100 * UNSURE_SHARE:.0f} %; what is known of the rest says too little of these. Let somebody look who "
            "can tell."
        )
    return labels


def first_images(plan: LabelPlan, count: int, answered: int) -> LabelPlan:
    """Return the plan of the first images of the drawn order, a sample with probabilities of its own."""
    missing = len(plan) - answered
    if plan.is_poisson:
        raise OpenworldError(f"{missing} of {len(plan)} images have no answer; the poisson design needs all of them.")
    inside = plan.stratum >= 0
    held, strata = np.bincount(plan.stratum[inside]), plan.stratum[plan.chosen]
    wanted = np.minimum(FEWEST, np.bincount(strata, minlength=held.size))
    drawn = np.bincount(strata[:count], minlength=held.size)
    if (drawn < wanted).any():
        sizes = range(count, len(plan) + 1)
        enough = next(n for n in sizes if (np.bincount(strata[:n], minlength=held.size) >= wanted).all())
        raise OpenworldError(
            f"{missing} of {len(plan)} images have no answer, and only the first {count} in the order of the worksheet "
            f"are answered without a gap; the first {enough} are needed so that each of {held.size} strata has enough."
        )
    inclusion = plan.inclusion.copy()
    inclusion[inside] = (drawn / held)[plan.stratum[inside]]
    return replace(plan, chosen=plan.chosen[:count], inclusion=inclusion)


def _right_among_all(answers: Sequence[ImageAnswer], batch: KeptBatch) -> np.ndarray | None:
    """Return whether each model's name among all names is right, bool[M, n]; None where somebody would have to ask."""
    if batch.joint is None:
        return None
    right = np.zeros((len(batch.joint), len(answers)), bool)
    for model, names in enumerate(batch.joint):
        for place, (answer, joint, own) in enumerate(zip(answers, names, batch.names, strict=False)):
            is_right = _is_right(answer, model, joint, own)
            if is_right is None:
                return None
            right[model, place] = is_right
    return right


def _is_right(answer: ImageAnswer, model: int, joint: str, names: Names) -> bool | None:
    """Whether a name among all is right, as far as an answer on the names of both halves tells."""
    if answer.label:
        return same_name(answer.label, joint)
    given = names.as_base if answer.base else names.as_new
    for name, right in zip(given, answer.right, strict=True):
        if right:  # the true class is known
            return same_name(name, joint)
    if any(same_name(name, joint) for name in given):
        return False
    # Of the other half, and so wrong; or of this half and yet not the name that was asked about.
    other = names.as_new if answer.base else names.as_base
    return False if same_name(other[model], joint) else None
