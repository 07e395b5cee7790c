"""One's own model and data from Python: what `openworld estimate`, `shift`, `predict` and `decide` do.

Parameters have the names, the meaning and the defaults of the commands' options; `openworld estimate --help` and its
like explain each.
"""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from openworld._errors import OpenworldError
from openworld.api.finished_run import Run
from openworld.api.progress import observing
from openworld.api.tables import columns_of
from openworld.report.command_report import CommandReport


def estimate(
    source: Any,
    target: Any,
    *,
    model: str = "",
    architecture: Sequence[str] = (),
    classnames: Path | str | None = None,
    template: str = "",
    reference: str = "",
    partner: Sequence[str] = (),
    source_partner: Sequence[Path | str] = (),
    target_partner: Sequence[Path | str] = (),
    labelled_shift: Sequence[str] = (),
    estimator: Sequence[str] = (),
    chunks: int = 0,
    chunk_rows: int = 0,
    timestamps: str = "",
    period: str = "",
    alert: float | None = None,
    false_alarms: float | None = None,
    by_class: bool = False,
    out: Path | str | None = None,
    seed: int = 0,
    device: str = "auto",
    quiet: bool = False,
) -> CommandReport:
    """Tell how accurate a model is on a target without labels, from a labelled source and what it says of both.

    Args:
        source, target: scores as columns (a mapping of arrays, a table of pandas, polars or pyarrow) with `logits` or
            `probabilities` [n, C], of the source also `labels` [n]; or files of such; or folders of images and the
            name of a `model`, or of data sets.
        out: folder that keeps page, plots and numbers; None for none.
        quiet: show no progress.

    Returns:
        A report that shows its answer; `.found` is the estimate as numbers, `.results` are its rows.

    Raises:
        OpenworldError: inputs that do not go together or cannot be read, as the message says.
    """
    from openworld.applications.estimate import command
    from openworld.applications.estimate.chunks import Chunking
    from openworld.applications.estimate.estimation import EstimateOptions
    from openworld.applications.estimate.inputs import EstimateInputs, ModelNames, named_shift

    chunking = Chunking(chunks, chunk_rows, period, bool(timestamps))
    options = EstimateOptions(tuple(estimator), chunking, by_class, alert, false_alarms, seed)
    names = None if classnames is None else Path(classnames)
    models = ModelNames(model, names, template, reference, tuple(partner), device, tuple(architecture))
    partners = tuple(map(Path, source_partner)), tuple(map(Path, target_partner))
    shifts = tuple(map(named_shift, labelled_shift))
    with tempfile.TemporaryDirectory() as scratch, observing(quiet=quiet) as observer:
        sources, targets = (
            _named(table, name, scratch) for name, table in {"source": source, "target": target}.items()
        )
        inputs = EstimateInputs(sources, targets, models, *partners, timestamps, shifts, _path(out))
        return command.estimate(inputs, options, observer, {"command": "openworld.estimate"})


def shift(
    reference: Path | str,
    test: Path | str | Sequence[Path | str],
    *,
    backbone: str = "embedded",
    laid: Path | str | None = None,
    classnames: Path | str | None = None,
    templates: Path | str | None = None,
    taught_by: str = "texts",
    neighbour: int = 10,
    levels: int = 8,
    levels_of: Path | str | None = None,
    least: int = 10,
    out: Path | str | None = None,
    allow_corrupt: int = 0,
    seed: int = 0,
    device: str = "auto",
    quiet: bool = False,
) -> CommandReport:
    """Tell how far images are from a reference, in meaning (semantic shift) and in appearance (covariate shift).

    Args:
        reference, test: folders of images, or data sets as NAME/DOMAIN/PART; several tests in a list.
        out: folder that keeps page, degrees, numbers and the decomposition; None for none.
        quiet: show no progress.

    Returns:
        A report that shows its answer; `.found` is the measurement as numbers, `.results` are its rows.

    Raises:
        OpenworldError: inputs that cannot be read or are too few, as the message says.
    """
    from openworld.applications.shift import command
    from openworld.applications.shift.decomposition import DecompositionSource
    from openworld.applications.shift.measurement import ShiftOptions

    options = ShiftOptions(neighbour, levels, least, seed, command.read_levels(_path(levels_of)))
    decomposition = DecompositionSource(_path(laid), _path(classnames), _path(templates), taught_by)
    tests = (test,) if isinstance(test, str | Path) else tuple(test)
    inputs = command.ShiftInputs(
        str(reference), tuple(map(str, tests)), backbone, decomposition, device, allow_corrupt, _path(out)
    )
    with observing(quiet=quiet) as observer:
        return command.measure_shift(inputs, options, observer, {"command": "openworld.shift"})


def predict(
    model: Run | Path | str,
    images: Path | str | Sequence[Path | str],
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
    quiet: bool = False,
):
    """Tell what a fitted learner says about images: names, baseness, and which of them look new.

    Args:
        model: a run or its folder, or a folder that `FittedLearner.save` wrote.
        images: a folder, an image, or several.
        new: further names beside those that it was fitted on; with `run_names` also the new names of the run.
        threshold: baseness, in [0, 1], below which an image looks new; None to leave that open.

    Returns:
        A `PredictionReport`: `.rows` is a dict per image, `.to_csv()` a table.

    Raises:
        OpenworldError: no learner there, names that will not do, images that cannot be read.
    """
    from openworld.applications import predict as predicting

    folder = model.folder if isinstance(model, Run) else Path(model)
    places = (images,) if isinstance(images, str | Path) else tuple(images)
    inputs = predicting.prediction_inputs(
        folder,
        tuple(map(Path, places)),
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
    with observing(quiet=quiet) as observer:
        return predicting.predict_images(inputs, observer)


def _path(place: Path | str | None) -> Path | None:
    return None if place is None else Path(place)


def _named(source: Any, name: str, scratch: str) -> list[str]:
    """A source or target as the command takes it: names of files, folders or data sets."""
    if isinstance(source, str | Path):
        return [str(source)]
    if isinstance(source, Sequence) and source and all(isinstance(part, str | Path) for part in source):
        return list(map(str, source))
    if isinstance(source, Mapping) or hasattr(source, "columns") or hasattr(source, "column_names"):
        file = Path(scratch) / f"{name}.npz"
        np.savez(file, **columns_of(source))
        return [str(file)]
    raise OpenworldError(
        f"the {name} came as {type(source).__name__}, expected columns such as "
        '{"logits": array, "labels": array}, a table, or paths.'
    )
