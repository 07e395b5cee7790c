"""The work of `openworld predict`: from what a person names to predictions, and from these to text."""

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from openworld._csv import csv_text
from openworld._errors import OpenworldError
from openworld._plain import read_plain
from openworld.cli import console


@dataclass(frozen=True)
class Saved:
    """A fitted learner on disk.

    Args:
        folder: holds learner.json and parameters.safetensors.
        sentence: of zero-shot CLIP on the data set it was fitted on, where that is known.
        new_names: of the run that it was fitted in; empty for a learner saved by hand.
    """

    folder: Path
    sentence: str = ""
    new_names: tuple[str, ...] = ()

    @property
    def backbone(self) -> str:
        """The name of the backbone that it was fitted on."""
        return self._description["backbone"]

    @property
    def precision(self) -> str:
        """In which that backbone computed."""
        return self._description.get("precision", "float32")

    @property
    def _description(self) -> dict:
        try:
            told = json.loads(read_plain(self.folder / "learner.json"))
            return told | {"backbone": told["backbone"]}
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise OpenworldError(
                f"{self.folder} holds no whole learner ({error}); give a folder that `FittedLearner.save` wrote."
            ) from error


def find_saved(model: Path, unit: str) -> Saved:
    """The learner in a folder: one that `FittedLearner.save` wrote, or that of one unit of a run."""
    if (model / "learner.json").is_file():
        if unit:
            raise OpenworldError(f"{model} holds a single learner; --unit chooses among those of a run's folder.")
        return Saved(model)
    if not (model / "run.json").is_file():
        raise OpenworldError(
            f"{model} holds no learner.json and no run.json; give one that `FittedLearner.save` wrote, or a run's."
        )
    return _of_run(model, unit)


def _of_run(folder: Path, unit: str) -> Saved:
    from openworld.learners import ZeroShot
    from openworld.runs import RunStore

    store = RunStore(folder)
    kept = {one.name: one for one in store.records(partial=True) if "learner/learner.json" in one.attachments}
    damaged = store.damaged()
    if damaged and (unit in damaged or not (unit or kept)):
        reason = damaged.get(unit) or next(iter(damaged.values()))
        raise OpenworldError(f"a record of {folder} is damaged: {reason} Start the run again to mend it.")
    if not kept:
        raise OpenworldError(f"{folder} kept no fitted learner; say `keep_learners = true` in its spec and run it.")
    if unit not in kept and (unit or len(kept) + len(damaged) > 1):
        said = f"no fitted learner of the name {unit!r}" if unit else f"{len(kept)} fitted learners"
        said += f" and {len(damaged)} damaged record(s)" * bool(damaged)
        raise OpenworldError(f"{folder} holds {said}; choose one with --unit: {'; '.join(kept)}.")
    record = kept[unit or next(iter(kept))]
    resolved, told = store.description()["resolved"], record.metrics
    # Where there are several targets, what it was tuned on is the source and comes first among them.
    resolved, told = resolved.get("source", resolved), told.get("targets", [told])[0]
    (sentence,) = ZeroShot.published(resolved["dataset"]).templates
    names = tuple(told["classnames"][told["n_base_classes"] :])
    return Saved(record.folder / "attachments" / "learner", sentence, names)


def read_names(file: Path | None) -> list[str]:
    """The names of a text file, one per line; empty lines do not count."""
    if file is None:
        return []
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise OpenworldError(f"{file} cannot be read ({error}); give a text file with a name per line.") from error
    return [line.strip() for line in lines if line.strip()]


@dataclass(frozen=True)
class Question:
    """What is asked about some pictures.

    Args:
        fitted: the learner, as loaded.
        new_names: names beside those that it was fitted on.
        sentence: of zero-shot CLIP.
        paths: the pictures.
        top: how many names to give.
        threshold: baseness, in [0, 1], below which a picture looks new; None to leave that open.
    """

    fitted: object
    new_names: tuple[str, ...]
    sentence: str
    paths: tuple[Path, ...]
    top: int = 1
    threshold: float | None = None


def answer(question: Question, *, allow_corrupt: int, quiet: bool):
    """Encode the pictures as the learner needs them, leaving nothing on disk, and name them."""
    from openworld.datasets.formats import unlabelled_folder
    from openworld.features import encode
    from openworld.learners import encoding_for
    from openworld.learners.engine.predictions import predict
    from openworld.learners.plugin_api import require_templates

    fitted, images = question.fitted, unlabelled_folder.load(question.paths)
    # Before any picture is read: a sentence or names that will not do.
    require_templates(question.sentence)
    fitted.text_bank(fitted.classnames, question.new_names)
    with tempfile.TemporaryDirectory() as scratch, console.working(), console.bars(quiet) as progress:
        bar = progress.add_task("encoding", total=len(images), rate="")
        features = encode(
            fitted.clip,
            images,
            encoding_for(fitted.learner),
            cache=Path(scratch),
            allow_corrupt=allow_corrupt,
            progress=lambda done, total: progress.update(bar, completed=done, total=total),
        )
        if not len(features):
            raise OpenworldError(f"none of the {len(images)} pictures could be read.")
        return predict(fitted, features, question.new_names, template=question.sentence, top=question.top)


def say(question: Question, predictions, out) -> None:
    """Headline, one row per picture, caption."""
    fitted, count = question.fitted, len(predictions)
    names = f"{len(fitted.classnames)} base names, {len(question.new_names)} new"
    out.print(f"{fitted.learner.name} on {fitted.clip.name!r} · {names} · {count} picture(s)", markup=False)
    say_table(question, predictions, out)
    caption = f"Percent, over all names. Baseness: how much it looks like a base class; place 1 of {count} the most."
    if question.threshold is not None:
        flagged = sum(looks_like(one, question.threshold) == "new" for one in predictions)
        caption += (
            f" Looks new: below the threshold {100 * question.threshold:.4g}, {flagged} of {count}; then so called "
            "among the new names alone, else among the base names alone."
        )
    out.print(f'{caption} Zero-shot CLIP was asked with "{question.sentence}"', markup=False)
    left_out = len(question.paths) - count
    if left_out:
        out.print(f"{left_out} of {len(question.paths)} pictures could not be read and are left out.")


def say_table(question: Question, predictions, out) -> None:
    """One row per picture."""
    from openworld import _terminal as terminal

    heads = [terminal.name("picture"), terminal.name(question.fitted.learner.name)]
    heads += map(terminal.Head, ("baseness", "(log)", "place"))
    flags = ("looks", "so called") if question.threshold is not None else ()
    heads += map(terminal.name, (*flags, "zero-shot CLIP"))
    rows = []
    for one in predictions:
        cells = [
            console.one_line(question.paths[one.row]),
            _listed(one.guesses),
            f"{100 * one.baseness:.1f}",
            f"{one.log_baseness:.3g}",
        ]
        looks = looks_like(one, question.threshold)
        cells += [one.rank, *([looks, called(one, question.threshold) or "–"] if looks else []), _listed(one.zero_shot)]
        rows.append([*map(str, cells)])
    out.print(terminal.TerminalTable(heads, rows))


def looks_like(prediction, threshold: float | None) -> str | None:
    """ "new" below the threshold on baseness, "base" from it on; None without a threshold."""
    if threshold is None:
        return None
    return "new" if prediction.baseness < threshold else "base"


def called(prediction, threshold: float | None) -> str | None:
    """The name among those of the side that it looks like; None without a threshold, or without new names there."""
    if threshold is None:
        return None
    return prediction.as_new if looks_like(prediction, threshold) == "new" else prediction.as_base


def _listed(guesses) -> str:
    return "\n".join(
        f"{console.one_line(one.name)}{' (new)' * (one.side == 'new')} {100 * one.probability:.1f}" for one in guesses
    )


def as_json(question: Question, predictions) -> str:
    """What was asked and what came, as JSON."""
    description = {
        "learner": question.fitted.learner.name,
        "backbone": question.fitted.clip.name,
        "base_names": question.fitted.classnames,
        "new_names": question.new_names,
        "zero_shot_template": question.sentence,
        "threshold": question.threshold,
        "unreadable": len(question.paths) - len(predictions),
    }
    return json.dumps(description | {"pictures": as_rows(question, predictions)}, indent=1, ensure_ascii=False)


def as_rows(question: Question, predictions) -> list[dict]:
    """One dict per picture."""
    return [
        {
            "picture": str(question.paths[one.row]),
            "guesses": [vars(guess) for guess in one.guesses],
            "baseness": one.baseness,
            "log_baseness": one.log_baseness,
            "place": one.rank,
            "looks": looks_like(one, question.threshold),
            "called": called(one, question.threshold),
            "zero_shot": [vars(guess) for guess in one.zero_shot],
        }
        for one in predictions
    ]


def as_csv(rows: Sequence[dict]) -> str:
    """The same, one line per picture; second and further names in columns of their own."""
    flat = [_flat(row) for row in rows]
    return csv_text(list(flat[0]), [list(row.values()) for row in flat])


def _flat(row: dict) -> dict:
    plain = {key: value for key, value in row.items() if key not in ("guesses", "zero_shot")}
    for prefix, guesses in (("", row["guesses"]), ("zero_shot_", row["zero_shot"])):
        for place, guess in enumerate(guesses, start=1):
            ending = "" if place == 1 else f"_{place}"
            plain |= {f"{prefix}{key}{ending}": value for key, value in guess.items()}
    return plain
