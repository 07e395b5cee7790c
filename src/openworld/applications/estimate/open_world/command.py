"""From what a person names to what holds of a stream without labels: read both streams, measure, report."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from openworld import __version__
from openworld._errors import OpenworldError
from openworld._observer import SILENT, Observer
from openworld.applications.estimate.open_world.measurement import NO_OPTIONS, OpenWorldOptions, measure_quality
from openworld.applications.estimate.open_world.report import report
from openworld.applications.open_world_stream.reading import Source, read_stream
from openworld.applications.predict import read_names
from openworld.report.report import Report
from openworld.runs.outputs import ESTIMATE, require_folder


@dataclass(frozen=True)
class OpenWorldInputs:
    """What is compared.

    Args:
        source: streams that follow each other, with labelled base images. target: such streams of unknown images.
        base_names: which names are of base classes, or a text file of them; None where the streams say it.
        out: where page, plots and numbers are kept; None to keep nothing.
    """

    source: Sequence[Source]
    target: Sequence[Source]
    base_names: Path | Sequence[str] | None = None
    out: Path | None = None


def open_world_options(
    wanted: bool,
    new_share: float | None,
    base_names: Path | Sequence[str] | None,
    seed: int,
    others: Mapping[str, Any],
) -> OpenWorldOptions | None:
    """Return the options of `--open-world`, or None where it is not wanted.

    Args:
        wanted: whether it is. new_share, base_names, seed: of `--open-world`.
        others: options of `openworld estimate` that do not go with it, by name, as they were given.

    Raises:
        OpenworldError: options that do not go together.
    """
    own = {"new_share": new_share, "base_names": base_names}
    odd = [name for name, value in (others if wanted else own).items() if _is_given(value)]
    if odd:
        option = "--" + odd[0].replace("_", "-")
        if wanted:
            raise OpenworldError(
                f"{option} does not go with --open-world, which reads streams of `openworld predict`; leave it out."
            )
        raise OpenworldError(f"{option} came without --open-world; give both, or neither.")
    names = str(base_names) if isinstance(base_names, str | Path) else ""
    return OpenWorldOptions(new_share, seed, names) if wanted else None


def _is_given(value: Any) -> bool:
    return (
        len(value) > 0 if isinstance(value, str | Sequence) else value is not None and value is not False and value != 0
    )


def estimate_open_world(
    inputs: OpenWorldInputs,
    options: OpenWorldOptions = NO_OPTIONS,
    observer: Observer = SILENT,
    made: Mapping[str, str] | None = None,
) -> Report:
    """Say what holds of the open-world quality of a learner on a stream without labels.

    Args:
        inputs: source and target. options: what is wanted. observer: hears what is being done.
        made: facts for the page, such as the command line.

    Returns:
        A report whose `found` is a `StreamQuality`; written into `inputs.out` where that is a folder.

    Raises:
        OpenworldError: streams that cannot be read or do not go together, as the message says.
    """
    require_folder("--out", inputs.out, own=(ESTIMATE,), inputs=(*inputs.source, *inputs.target, inputs.base_names))
    names = inputs.base_names
    if isinstance(names, str | Path):
        names = read_names(Path(names))
    facts = {**(made or {}), "openworld": __version__, "seed": str(options.seed)}
    streams = []
    for side in (inputs.source, inputs.target):
        for path in (Path(place) for place in side if isinstance(place, str | Path)):
            if path.is_file():
                with path.open("rb") as file:
                    facts[path.name] = f"SHA-256 {hashlib.file_digest(file, 'sha256').hexdigest()}"
        streams.append(
            read_stream(
                list(side), base_names=names, progress=lambda done: observer.progress("reading images", done, None)
            )
        )
    paths = [str(place) for place in inputs.target if isinstance(place, str | Path)]
    path = paths[0] if len(inputs.target) == 1 and paths else ""
    answer = report(replace(measure_quality(*streams, options, path), made=facts))
    if inputs.out is not None:
        answer.write(inputs.out)
    return answer
