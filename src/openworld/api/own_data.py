"""One's own model and data from Python: what `openworld estimate`, `shift`, `predict` and `decide` do.

Parameters have the names, the meaning and the defaults of the commands' options; `openworld estimate --help` and its
like explain each.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from openworld._types import Count, Positive, Range, checked
from openworld.api.inputs import class_embeddings_of, collection_of, paths_of, sources_of
from openworld.api.progress import observing
from openworld.report.report import Report


@checked
def estimate(
    source: Any,
    target: Any,
    *,
    model: Any = "",
    architecture: Sequence[str] = (),
    classnames: Path | str | Sequence[str] | None = None,
    template: str = "",
    reference: Any = "",
    partner: Sequence[Any] = (),
    source_partner: Sequence[Any] = (),
    target_partner: Sequence[Any] = (),
    labelled_shift: Sequence[str] = (),
    estimator: Sequence[str] = (),
    chunks: Count = 0,
    chunk_rows: Count = 0,
    timestamps: str = "",
    period: str = "",
    same_shares: bool = False,
    other_shares: bool = False,
    alert: float | None = None,
    false_alarms: float | None = None,
    labels: Any = None,
    propose: Count = 0,
    levels: str = "",
    zero_shot: str = "",
    by_class: bool = False,
    open_world: bool = False,
    new_share: float | None = None,
    base_names: Path | str | Sequence[str] | None = None,
    out: Path | str | None = None,
    seed: int = 0,
    device: str = "auto",
    quiet: bool = False,
) -> Report:
    """Tell how accurate a model is on a target without labels, from a labelled source and what it says of both.

    Args:
        source, target: scores as columns (a mapping of arrays, a table of pandas, polars or pyarrow) with `logits` or
            `probabilities` [n, C], of the source also `labels` [n]; or files of such. Or images, which a `model`
            scores: a folder, a data set's name, a table with a column `path` (of the source also `label`), a
            `datasets.Dataset`, an `ImageSet`. Or `embeddings` [n, D] with `class_embeddings` [C, D] and `classnames`,
            or with a `model` that has `predict_proba`.
        model, reference, partner: names as for the command, or objects: a `classifiers.Classifier`, a model of timm
            (with `classnames`), a two-tower model as docs/own-models.md lists them.
        classnames: a file, or names.
        same_shares, other_shares: what you vouch for: that classes come as often as on the source; or that they come in
            other shares, and nothing else differs.
        labels: of some images of the target, as a file or columns: the column that names images, `label`, `inclusion`.
        open_world: bound OpenworldAUC and the share of new images of a stream; source and target are then files of
            `predict(..., out=...)`, or columns such as {"logits": [n, C], "classnames": [C], "n_base": 50}, of the
            source with `side` and `label`.
        new_share: beside `open_world`, the share of new images in (0, 1), where it is known.
        base_names: beside `open_world`, a file, or the names of base classes, where the streams do not say them.
        out: folder that keeps page, plots and numbers; None for none.
        quiet: show no progress.

    Returns:
        A report that shows its answer; `.found` is the estimate as numbers (with `levels`, a curve), `.results` are its
        rows.

    Raises:
        OpenworldError: inputs that do not go together or cannot be read, as the message says.
    """
    from openworld.applications.estimate import command
    from openworld.applications.estimate.chunks import Chunking
    from openworld.applications.estimate.estimation import EstimateOptions, vouched_shares
    from openworld.applications.estimate.inputs import EstimateInputs, ModelNames, named_shift
    from openworld.applications.estimate.open_world.command import estimate_open_world, require_open_world

    others = {"model": model, "architecture": architecture, "classnames": classnames, "template": template}
    others |= {"reference": reference, "partner": partner, "source_partner": source_partner}
    others |= {"target_partner": target_partner, "labelled_shift": labelled_shift, "chunks": chunks}
    others |= {"chunk_rows": chunk_rows, "timestamps": timestamps, "period": period, "alert": alert}
    others |= {"false_alarms": false_alarms, "by_class": by_class, "levels": levels, "zero_shot": zero_shot}
    others |= {"labels": labels is not None, "propose": propose, "estimator": estimator}
    others |= {"same_shares": same_shares, "other_shares": other_shares}
    own = {"new_share": new_share, "base_names": base_names}
    require_open_world(open_world, own, others)
    made = {"command": "openworld.estimate"}
    if open_world:
        sides = sources_of(source, "source"), sources_of(target, "target")
        with observing(quiet=quiet) as observer:
            return estimate_open_world(*sides, **own, seed=seed, out=_path(out), observer=observer, made=made)
    chunking = Chunking(chunks, chunk_rows, period, bool(timestamps))
    vouched = vouched_shares(same_shares, other_shares)
    options = EstimateOptions(tuple(estimator), chunking, by_class, alert, false_alarms, seed, vouched=vouched)
    names = Path(classnames) if isinstance(classnames, str) else classnames
    if isinstance(model, str) and not model:
        model = class_embeddings_of(source, "source") or ""
    models = ModelNames(model, names, template, reference, tuple(partner), device, tuple(architecture))
    partners = (
        tuple(_partner(scores, f"{side} partner") for scores in given)
        for side, given in {"source": source_partner, "target": target_partner}.items()
    )
    shifts = tuple(map(named_shift, labelled_shift))
    sides = sources_of(source, "source"), sources_of(target, "target")
    late = None if labels is None else sources_of(labels, "labels")[0]
    inputs = EstimateInputs(*sides, models, *partners, timestamps, shifts, _path(out), levels, zero_shot, late, propose)
    with observing(quiet=quiet) as observer:
        return command.estimate(inputs, options, observer, made)


@checked
def fit_watch(
    source: Any,
    out: Path | str,
    *,
    classnames: Path | str | Sequence[str] | None = None,
    estimator: Sequence[str] = (),
    timestamps: str = "",
    period: str = "",
    chunk_rows: Count = 0,
    images: Sequence[Positive] = (),
    alert: float | None = None,
    false_alarms: float | None = None,
    seed: int = 0,
    quiet: bool = False,
) -> Report:
    """Fit once, on a labelled source, what `watch` needs every day: `openworld estimate fit`.

    Args:
        source: scores as columns or files, as for `estimate`, with `labels`. out: the file to write. classnames: a
            file, or names. quiet: show no progress.

    Returns:
        A report that shows its answer; `.found` is the `Watch`.

    Raises:
        OpenworldError: a source that cannot be read or has no labels, methods that it does not allow.
    """
    from openworld.applications.watch import command
    from openworld.applications.watch.fitted import WatchSettings

    settings = WatchSettings(tuple(estimator), timestamps, period, chunk_rows, alert, false_alarms, seed)
    names = Path(classnames) if isinstance(classnames, str) else classnames
    made = {"command": "openworld.fit_watch"}
    with observing(quiet=quiet) as observer:
        files = sources_of(source, "source")
        return command.fit(files, Path(out), settings, classnames=names, images=images, observer=observer, made=made)


@checked
def watch(
    fitted: Path | str,
    new: Any = (),
    *,
    state: Path | str | None = None,
    json_lines: Path | str | None = None,
    prometheus: Path | str | None = None,
    close: bool = False,
    labels: Any = None,
    propose: Count = 0,
    out: Path | str | None = None,
    quiet: bool = False,
) -> Report:
    """Add new images to a watch, and say what the accuracy of the periods is that they finish.

    Args:
        fitted: what `fit_watch` wrote. new: scores as columns, or files in the order of time; none to look again.
        state: file that lets the next call go on; None for one beside `fitted`. labels: of images of finished periods,
            as a file or columns: `id` or `row`, `label`, `inclusion`; read before `new`. propose: write a worksheet of
            about so many images of the last finished period to `out`. out: folder that keeps page, plots and
            numbers; None for none. quiet: show no progress.

    Returns:
        A report that shows its answer; `.found.new` are the periods that were finished, `.results` all as rows.

    Raises:
        OpenworldError: images out of order, scores that do not fit the watch, another call at work on the state,
            labels of images that are not kept.
    """
    from openworld.applications.watch import command

    late = None if labels is None else sources_of(labels, "labels")[0]
    files = command.WatchFiles(_path(state), _path(json_lines), _path(prometheus), _path(out), late, propose)
    given = [] if isinstance(new, list | tuple) and not new else sources_of(new, "new images")
    made = {"command": "openworld.watch"}
    with observing(quiet=quiet) as observer:
        return command.watch(Path(fitted), given, files, close=close, observer=observer, made=made)


@checked
def shift(
    reference: Any,
    test: Any,
    *,
    backbone: Any = "embedded",
    laid: Path | str | None = None,
    classnames: Path | str | Sequence[str] | None = None,
    templates: Path | str | None = None,
    taught_by: str = "texts",
    most_names: Count = 200,
    neighbour: Positive = 10,
    levels: Annotated[int, Range(3, 1000)] = 8,
    levels_of: Path | str | None = None,
    least: Positive = 10,
    out: Path | str | None = None,
    allow_corrupt: Count = 0,
    seed: int = 0,
    device: str = "auto",
    quiet: bool = False,
) -> Report:
    """Tell how far images are from a reference, in meaning (semantic shift) and in appearance (covariate shift).

    Args:
        reference, test: folders of images, data sets as NAME/DOMAIN/PART, tables with a column `path` (and perhaps
            `label`), a `datasets.Dataset`, an `ImageSet`, or `embeddings` [n, D] of your own; several tests in a list.
        backbone: a name as for the command, or a two-tower model of your own as docs/own-models.md lists them; for
            embeddings the file, or the columns, with `class_embeddings` [C, S, D] and `classnames`.
        out: folder that keeps page, degrees, numbers and the decomposition; None for none.
        quiet: show no progress.

    Returns:
        A report that shows its answer; `.found` has the degrees of every image, `.results` are all other numbers.

    Raises:
        OpenworldError: inputs that cannot be read or are too few, as the message says.
    """
    from openworld.applications.shift import command
    from openworld.applications.shift.decomposition import DecompositionSource
    from openworld.applications.shift.measurement import ShiftOptions

    options = ShiftOptions(neighbour, levels, least, seed, command.read_levels(_path(levels_of)))
    names = Path(classnames) if isinstance(classnames, str) else classnames
    decomposition = DecompositionSource(_path(laid), names, _path(templates), taught_by, most_names)
    several = isinstance(test, list | tuple)
    tests = tuple(
        collection_of(one, f"test {number}" if several and len(test) > 1 else "test")
        for number, one in enumerate(test if several else (test,), start=1)
    )
    clip = _encoder(backbone, reference)
    known = collection_of(reference, "reference")
    inputs = command.ShiftInputs(known, tests, clip, decomposition, device, allow_corrupt, _path(out))
    with observing(quiet=quiet) as observer:
        return command.measure_shift(inputs, options, observer, {"command": "openworld.shift"})


@checked
def predict(
    model: Report | Path | str,
    images: Any,
    *,
    unit: str = "",
    new: Sequence[str] = (),
    run_names: bool = False,
    top: Positive = 1,
    threshold: float | None = None,
    template: str = "",
    backbone: str = "",
    allow_corrupt: Count = 0,
    device: str = "auto",
    out: Path | str | None = None,
    labelled: bool = False,
    quiet: bool = False,
):
    """Tell what a fitted learner says about images: names, baseness, and which of them look new.

    Args:
        model: a run or its folder, or a folder that `FittedLearner.save` wrote.
        images: a folder, an image, or several; or a table with a column `path`.
        new: further names beside those that it was fitted on; with `run_names` also the new names of the run.
        threshold: baseness, in [0, 1], below which an image looks new; None to leave that open.
        out: file that keeps scores, logits and names (.parquet, .csv, .npz, .safetensors), which
            `estimate(..., open_world=True)` reads; None for none.
        labelled: beside `out`, images lie in folders named after their classes, and are kept with these labels.

    Returns:
        A report: `.found.rows` is a dict per image, `.found.to_csv()` a table.

    Raises:
        OpenworldError: no learner there, names that will not do, images that cannot be read.
    """
    from openworld.applications import predict as predicting
    from openworld.applications.predicted_stream import require_stream, write_predicted

    folder = model.folder if isinstance(model, Report) else Path(model)
    inputs = predicting.prediction_inputs(
        folder,
        paths_of(images),
        unit=unit,
        new=tuple(new),
        run_names=run_names,
        top=top,
        threshold=threshold,
        template=template,
        backbone=backbone,
        allow_corrupt=allow_corrupt,
        device=device,
    )
    require_stream(_path(out), inputs, labelled)
    with observing(quiet=quiet) as observer:
        report = predicting.predict_images(inputs, observer)
    if out is not None:
        write_predicted(report.found, Path(out), labelled)
    return report


def _path(place: Path | str | None) -> Path | None:
    return None if place is None else Path(place)


def _partner(scores: Any, name: str) -> Any:
    """Another model's scores: a file, or arrays."""
    return Path(scores) if isinstance(scores, str | Path) else sources_of(scores, name)[0]


def _encoder(backbone: Any, reference: Any) -> Any:
    """The backbone; embeddings of class names in the place of one, or those that came with the reference."""
    if isinstance(backbone, str) and backbone != "embedded":
        return backbone
    given = class_embeddings_of(reference if isinstance(backbone, str) else backbone, "class embeddings")
    if given is None:
        return backbone
    from openworld.backbones.foreign.of_embeddings import GivenEncoder

    return GivenEncoder(given)
