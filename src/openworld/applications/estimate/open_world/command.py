"""From what a person names to what holds of a stream without labels: read both streams, measure, report."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from openworld import __version__
from openworld._arrays import require_fraction
from openworld._errors import OpenworldError
from openworld._observer import SILENT, Observer
from openworld.applications.estimate.inputs import checksums
from openworld.applications.estimate.open_world.measurement import measure_quality
from openworld.applications.estimate.open_world.report import report
from openworld.applications.open_world_stream.reading import Source, read_stream
from openworld.applications.predict import read_names
from openworld.report.report import Report
from openworld.runs.outputs import ESTIMATE, require_folder


def require_open_world(wanted: bool, own: Mapping[str, Any], others: Mapping[str, Any]) -> None:
    """Refuse options of `openworld estimate` that do not go with `--open-world`, and its own without it."""

    def is_given(value: Any) -> bool:
        return len(value) > 0 if isinstance(value, str | Sequence) else value not in (None, False, 0)

    for name in (name for name, value in (others if wanted else own).items() if is_given(value)):
        option = "--" + name.replace("_", "-")
        if wanted:
            raise OpenworldError(f"{option} does not go with --open-world, which reads streams; leave it out.")
        raise OpenworldError(f"{option} came without --open-world; give both, or neither.")


def estimate_open_world(
    source: Sequence[Source],
    target: Sequence[Source],
    *,
    base_names: Path | Sequence[str] | None = None,
    new_share: float | None = None,
    seed: int = 0,
    out: Path | None = None,
    observer: Observer = SILENT,
    made: Mapping[str, str] | None = None,
) -> Report:
    """Say what holds of the open-world quality of a learner on a stream without labels."""
    # `source` has labelled base images; `new_share` in (0, 1) is known from elsewhere; `made` are facts for the page.
    require_fraction(new_share=new_share)
    require_folder("--out", out, own=(ESTIMATE,), inputs=(*source, *target, base_names))
    from_file = isinstance(base_names, str | Path)
    names = read_names(Path(base_names)) if from_file else base_names
    facts = {**(made or {}), "openworld": __version__, "seed": str(seed), **checksums([*source, *target])}
    progress = partial(observer.progress, "reading images", total=None)
    streams = [read_stream(list(side), base_names=names, progress=progress) for side in (source, target)]
    path = str(target[0]) if len(target) == 1 and isinstance(target[0], str | Path) else ""
    names_file = str(base_names) if from_file else ""
    answer = report(replace(measure_quality(*streams, new_share, seed, path, names_file), made=facts))
    if out is not None:
        answer.write(out)
    return answer
