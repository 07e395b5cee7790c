"""What a fitted learner says about images: from what a person names to predictions, and from these to text or a stream.

A stream is a file that needs neither images nor model again (`openworld.tables.stream`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from openworld.core.arrays import require_fraction
from openworld.core.console import Ending
from openworld.core.errors import OpenworldError, failing
from openworld.core.plain_files import read_lines
from openworld.core.progress import SILENT, Observer
from openworld.core.reading import wrong
from openworld.report.layout import METRIC, Brief, Layout, Pivot
from openworld.report.report import Report
from openworld.report.sentences import counted
from openworld.report.table import Cell
from openworld.results import Metric, Result, Results, Value
from openworld.runs.atomic import write_file
from openworld.runs.outputs import require_file
from openworld.runs.scratch import ScratchFolder
from openworld.tables.classes import normalise_class_name, readable_class_name
from openworld.tables.embeddings import holds_embeddings, read_embeddings
from openworld.tables.files import ScoreFile
from openworld.tables.parquet import require_kind
from openworld.tables.stream import stream_bytes

if TYPE_CHECKING:
    from openworld.datasets import ImageSet

BASENESS = Metric("baseness", "baseness", better=0)
LOG_BASENESS = Metric("log_baseness", "(log)", "number", 3, 0, (None, 0.0))
PLACE = Metric("place", "place", "count", 0, 0, (1.0, None))
LAYOUT = Layout(
    "What is on these images?",
    "",
    (Pivot(name="predictions", title="Every image", rows=("image",), columns=(METRIC,), beside=("row",)),),
)


def find_saved(model: Path, unit: str) -> tuple[Path, str, tuple[str, ...]]:
    """Return the folder of a learner: one that `FittedLearner.save` wrote, or that of one unit of a run.

    With it comes what a run says: the sentence of zero-shot CLIP on its data set, and its new names.
    """
    if (model / "learner.json").is_file():
        if unit:
            raise OpenworldError(f"{model} holds a single learner; --unit chooses among those of a run's folder.")
        return model, "", ()
    if not (model / "run.json").is_file():
        raise OpenworldError(f"{model} holds no learner.json and no run.json; give a saved learner or a run.")
    return _of_run(model, unit)


def _of_run(folder: Path, unit: str) -> tuple[Path, str, tuple[str, ...]]:
    from openworld.learners import ZeroShot
    from openworld.runs import RunStore

    store = RunStore(folder)
    records = store.records(partial=True)
    records_of = {record.name: record for record in records if "learner/learner.json" in record.attachments}
    damaged = store.damaged()
    if damaged and (unit in damaged or not (unit or records_of)):
        reason = damaged.get(unit) or next(iter(damaged.values()))
        raise OpenworldError(f"a record of {folder} is damaged: {reason} Start the run again to mend it.")
    if not records_of:
        raise OpenworldError(f"{folder} kept no fitted learner; say `keep_learners = true` in its spec and run it.")
    if unit not in records_of and (unit or len(records_of) + len(damaged) > 1):
        held = f"no fitted learner of the name {unit!r}" if unit else f"{len(records_of)} fitted learners"
        held += f" and {len(damaged)} damaged record(s)" if damaged else ""
        raise OpenworldError(f"{folder} holds {held}; choose one with --unit: {'; '.join(records_of)}.")
    record = records_of[unit or next(iter(records_of))]
    resolved, metrics = store.description()["resolved"], record.metrics
    # Where there are several targets, what it was tuned on is the source and comes first among them.
    resolved, metrics = resolved.get("source", resolved), metrics.get("targets", [metrics])[0]
    (sentence,) = ZeroShot.published(resolved["dataset"] or metrics["task"]).templates
    names = tuple(metrics["classnames"][metrics["n_base_classes"] :])
    return record.folder / "attachments" / "learner", sentence, names


@dataclass(frozen=True, eq=False)
class PredictedImages:
    """What is wanted of some images, and the predictions, one per image that could be read."""

    fitted: Any  # the learner, as loaded
    new_names: tuple[str, ...]  # beside those that it was fitted on
    sentence: str  # of zero-shot CLIP
    paths: tuple[Path, ...]
    top: int = 1  # how many names to give
    threshold: float | None = None  # baseness, in [0, 1], below which an image looks new; None to leave that open
    allow_corrupt: int = 0  # unreadable images that are left out
    dataset: "ImageSet | None" = None  # whose images are the `paths`; None where these are files
    predictions: Sequence = field(repr=False, default=())
    answer: Any = field(default=None, repr=False)  # of the learner, an `Answer` of arrays
    zero_shot: Any = field(default=None, repr=False)

    @property
    def rows(self) -> list[dict]:
        return [
            {
                "image": str(self.paths[own.row]),
                "guesses": [vars(guess) for guess in own.guesses],
                "baseness": own.baseness,
                "log_baseness": own.log_baseness,
                "place": own.rank,
                **dict(zip(("looks", "called"), looks(own, self.threshold), strict=True)),
                "zero_shot": [vars(guess) for guess in own.zero_shot],
            }
            for own in self.predictions
        ]


def prediction_inputs(
    model: Any,
    images: "Sequence[str | ImageSet | ScoreFile]",
    *,
    unit: str = "",
    new: Sequence[str] = (),
    run_names: bool = False,
    top: int = 1,
    threshold: float | None = None,
    template: str = "",
    backbone: str = "",
    allow_corrupt: int = 0,
    device: str = "auto",
) -> PredictedImages:
    """Return what is wanted, from what a person names, as `openworld.predict` says."""
    from openworld.backbones.devices import find_device
    from openworld.datasets.templates import PHOTO
    from openworld.own_data.models import find_model

    require_fraction("[]", threshold=threshold)
    if isinstance(model, str) and not model:
        raise wrong(model, "a run, a learner, or the folder of one", "model")
    model = model.folder if isinstance(model, Report) else model
    is_folder = isinstance(model, str | Path) and not holds_embeddings(model)
    folder, said, of_run = find_saved(Path(model), unit) if is_folder else (Path(), "", ())
    if run_names and not of_run:
        raise OpenworldError(f"{model} is not the folder of a run with new names; name them with --new.")
    names = (*new, *(of_run if run_names else ()))
    paths, dataset = _find_images(images)
    found = find_model(folder if is_folder else model, device=find_device(device), backbone=backbone)
    fitted = _learner_of(found, names, template or PHOTO)
    sentence = template or said or getattr(fitted.learner, "template", PHOTO)
    return PredictedImages(fitted, names, sentence, tuple(paths), top, threshold, allow_corrupt, dataset)


def _learner_of(found: Any, new_names: Sequence[str], template: str) -> Any:
    """Return a fitted learner as it is, or zero-shot of class embeddings, whose other names are base names."""
    from openworld.backbones.foreign.of_objects import GivenEncoder
    from openworld.learners import FittedLearner, ZeroShot

    if isinstance(found, FittedLearner):
        return found
    if not isinstance(found, GivenEncoder):
        raise OpenworldError(
            f"{type(found).__name__} knows no base names; give a fitted learner, the folder of one or of a run, or "
            "class embeddings with their classnames."
        )
    new = set(map(normalise_class_name, new_names))
    base = tuple(name for name in found.classnames if normalise_class_name(name) not in new)
    return FittedLearner(ZeroShot((template,)), found, base, {})


def _find_images(images: "Sequence[str | ImageSet | ScoreFile]") -> "tuple[list[Path], ImageSet | None]":
    """Return the paths of files, or of the images of a data set, and that data set."""
    from openworld.datasets.formats import embeddings
    from openworld.datasets.formats.folder import find_images
    from openworld.own_data.images import UNLABELLED, are_images, labelled_images

    first, embedded = images[0], holds_embeddings(images[0], "embeddings")
    sets = [each for each in images if not isinstance(each, str) or (not Path(each).exists() and are_images(each))]
    if not sets and not embedded:
        return find_images([Path(str(each)) for each in images]), None
    if len(images) > 1:
        name = getattr(first, "name", first)
        raise OpenworldError(f"{name} is a data set, and {len(images) - 1} more came; give a data set alone.")
    if embedded or isinstance(first, ScoreFile):
        held: Any = first
        dataset = embeddings.image_set(read_embeddings(held))
    else:
        dataset = labelled_images(first) if isinstance(first, str) else first
    paths = getattr(dataset.read, "paths", None) if dataset.classnames == UNLABELLED else None
    if paths is not None:  # files that a table names
        return list(map(Path, paths)), None
    return [Path(dataset.path_of(row)) for row in range(len(dataset))], dataset


def prediction_report(found: PredictedImages) -> Report:
    """Return a report of the numbers of each image; where: its path, and its place among those given."""
    count, learner, clip = len(found.predictions), found.fitted.learner.name, found.fitted.clip.name
    rows = tuple(
        Result(learner, metric, Value(float(value)), {"image": str(found.paths[own.row]), "row": own.row})
        for own in found.predictions
        for metric, value in ((BASENESS, own.baseness), (LOG_BASENESS, own.log_baseness), (PLACE, own.rank))
    )
    names = f"{len(found.fitted.classnames)} base names, {len(found.new_names)} new"
    headline = f"{learner} on {clip!r} · {names} · {counted(count, 'image')}"
    made = {"learner": learner, "backbone": clip}
    facts = made | {
        "base_names": list(found.fitted.classnames),
        "new_names": list(found.new_names),
        "zero_shot_template": found.sentence,
        "threshold": found.threshold,
        "unreadable": len(found.paths) - count,
        "images": found.rows,
    }
    brief = Brief(
        Results("predict", rows),
        subtitle=(learner, names),
        words={"predictions": _words(found)},
        sentences=(headline, *_text(found)),
    )
    return LAYOUT.report(brief, made=made, found=found, facts=facts)


def _words(found: PredictedImages) -> dict[str, dict[str, str | Cell]]:
    """Return the columns of words of each image: what learner and zero-shot CLIP name it, and what it looks like."""
    threshold = found.threshold
    images = [(str(found.paths[own.row]), own) for own in found.predictions]
    columns: dict[str, Any] = {found.fitted.learner.name: {path: _listed(own.guesses) for path, own in images}}
    if threshold is not None:
        columns["looks"] = {path: looks(own, threshold)[0] for path, own in images}
        columns["so called"] = {path: Cell(looks(own, threshold)[1]) for path, own in images}
    return columns | {"zero-shot CLIP": {path: _listed(own.zero_shot) for path, own in images}}


def _text(found: PredictedImages) -> tuple[str, ...]:
    """What the columns mean, and which images are left out."""
    count, total = len(found.predictions), len(found.paths)
    caption = f"Percent, over all names. Baseness: how much it looks like a base class; place 1 of {count} the most."
    if found.threshold is not None:
        flagged = sum(looks(prediction, found.threshold)[0] == "new" for prediction in found.predictions)
        caption += (
            f" Looks new: below the threshold {100 * found.threshold:.4g}, {flagged} of {count}; then so called "
            "among the new names alone, else among the base names alone."
        )
    left_out = f"{total - count} of {total} images could not be read and are left out."
    return (f'{caption} Sentence of zero-shot CLIP: "{found.sentence}"', *([left_out] if count < total else []))


def predict(
    model: Any,
    images: "Sequence[str | ImageSet | ScoreFile]",
    *,
    new: Sequence[str] = (),
    new_names: Path | None = None,
    out: Path | None = None,
    labelled: bool = False,
    observer: Observer = SILENT,
    **options: Any,
) -> Report:
    """Name images as `prediction_inputs` says, and write what is said of them as a stream where `out` says so."""
    from openworld.datasets.formats.folder import images_of_paths
    from openworld.features import encode
    from openworld.learners import encoding_for
    from openworld.learners.engine import predictions
    from openworld.learners.plugin_api import require_templates

    names = () if new_names is None else read_lines(new_names, "name")
    inputs = prediction_inputs(model, images, new=(*new, *names), **options)
    require_stream(out, inputs, labelled)
    fitted, shown = inputs.fitted, inputs.dataset
    shown = images_of_paths(inputs.paths) if shown is None else shown
    # Before any image is read: a sentence or names that will not do.
    require_templates(inputs.sentence)
    bank = fitted.text_bank(fitted.classnames, inputs.new_names)
    with ScratchFolder() as scratch, failing():  # images are encoded anew and nothing is kept
        features = encode(
            fitted.clip,
            shown,
            encoding_for(fitted.learner),
            cache=Path(scratch),
            allow_corrupt=inputs.allow_corrupt,
            progress=partial(observer.progress, "encoding"),
        )
        if not len(features):
            raise OpenworldError(f"none of the {len(shown)} images could be read.")
        answer = fitted.answer(features, bank)
        plain = predictions.zero_shot_answer(fitted, features, inputs.new_names, inputs.sentence)
        how: dict[str, Any] = {"answer": answer, "zero_shot": plain}
        guesses = predictions.predict(fitted, features, inputs.new_names, top=inputs.top, **how)
        found = replace(inputs, predictions=guesses, **how)
    report = prediction_report(found)
    if out is None:
        return report
    write_stream(found, out, labelled)
    ending = Ending(f"Stream: {out}")
    return replace(report, terminal_tables=(), papers=report.papers or report.terminal_tables, ending=ending)


def looks(prediction, threshold: float | None) -> tuple[str | None, str | None]:
    """Return the side that an image looks like, new below the threshold on baseness, and its name on that side."""
    if threshold is None:
        return None, None
    return ("new", prediction.as_new) if prediction.baseness < threshold else ("base", prediction.as_base)


def _listed(guesses: Sequence) -> str:
    lines = []
    for guess in guesses:
        name = str(guess.name).replace("\n", "␊").replace("\t", "␉")  # somebody else's names stay on one line
        side = " (new)" if guess.side == "new" else ""
        lines.append(f"{name}{side} {BASENESS.write(guess.probability)}")
    return "\n".join(lines)


def require_stream(out: Path | None, inputs: PredictedImages, labelled: bool) -> None:
    """Refuse, before any image is read, what cannot become a stream: another ending, no new names, unknown classes."""
    if out is None:
        if labelled:
            raise OpenworldError("--labelled came without --out; labels are kept in a stream: give --out FILE.")
        return
    require_file("--out", out, inputs=inputs.paths)
    require_kind(out)
    if not inputs.new_names:
        raise OpenworldError("a stream needs new names; give --new NAME, --new-names FILE or, of a run, --run-names.")
    if labelled:
        true_classes(inputs)


def write_stream(found: PredictedImages, out: Path, labelled: bool) -> None:
    """Write what the learner says of every readable image; labelled: also `side` and `label`, from folder names."""
    answer, predictions = found.answer, found.predictions
    base_names, rows = tuple(found.fitted.classnames), [own.row for own in predictions]
    columns: dict[str, Any] = {"image": [str(found.paths[row]) for row in rows]}
    if found.dataset is not None:
        columns["group"] = found.dataset.groups[rows]
    if labelled:
        sides, names = true_classes(found)
        columns |= {"side": [sides[row] for row in rows], "label": [names[row] for row in rows]}
    columns["score"] = np.asarray(answer.baseness, np.float64)
    columns["base_name"] = [own.as_base for own in predictions]
    columns["new_name"] = [own.as_new for own in predictions]
    columns["joint_name"] = [own.guesses[0].name for own in predictions]
    columns = {name: np.array(own, object) if isinstance(own, list) else own for name, own in columns.items()}
    matrices = {"logits": answer.logits, "base_logits": answer.base_logits, "zero_shot": found.zero_shot.logits}
    columns |= {name: np.asarray(own, np.float32) for name, own in matrices.items() if own is not None}
    names = (*base_names, *found.new_names)
    write_file(out, stream_bytes(out.suffix.lower(), columns, names, len(base_names)))


def true_classes(inputs: PredictedImages) -> tuple[list[str], list[str]]:
    """Return side and class name of every image, from its folder or the data set; refuse a class of neither side."""
    if inputs.dataset is None:
        classes = [readable_class_name(path.resolve().parent.name) for path in inputs.paths]
    else:
        classes = [inputs.dataset.classnames[label] for label in inputs.dataset.labels]
    class_of = {normalise_class_name(name): ("new", name) for name in inputs.new_names}
    class_of |= {normalise_class_name(name): ("base", name) for name in inputs.fitted.classnames}
    odd = list(dict.fromkeys(name for name in classes if normalise_class_name(name) not in class_of))
    if odd:
        raise OpenworldError(
            f"{len(odd)} of the classes that images are labelled with are neither base nor new names, first "
            f"{odd[0]!r}; images lie in a folder named after their class: rename it, or add the class with --new."
        )
    pairs = [class_of[normalise_class_name(name)] for name in classes]
    return [side for side, _ in pairs], [name for _, name in pairs]
