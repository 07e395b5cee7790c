"""Carry out evaluations from Python: what `openworld run` and `openworld reproduce` do."""

from collections.abc import Mapping
from dataclasses import is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from openworld._errors import OpenworldError
from openworld._types import Count, Range, checked
from openworld.api.finished_run import open_run
from openworld.api.progress import observing
from openworld.report.report import Report


@checked
def run(
    spec: Any,
    out: Path | str | None = None,
    *,
    device: str = "auto",
    workers: Annotated[int, Range(0, 1024)] = 0,
    engine: Literal["local", "ray"] = "local",
    cache: Path | str | None = None,
    cache_limit: str = "",
    allow_corrupt: Count = 0,
    data: Path | str | None = None,
    quiet: bool = False,
) -> Report:
    """Carry out the run that a spec describes, or go on with it where it was stopped, and return it.

    A finished run takes further learners, seeds, models, estimators, detectors and datasets: only what is new is
    computed.

    Args:
        spec: path of a TOML file, the same as a mapping, a spec such as `RecognitionSpec(...)`, or "demo".
        out: folder of the run; None for runs/NAME OF THE FILE, or runs/NAME OF THE EVALUATION.
        device: "auto" (all GPUs where there are any), "cpu", "cuda", "mps", "cuda:0,cuda:1".
        workers: processes; 0 for one per core, on GPUs by their memory.
        engine: "local", or "ray": Ray here, or the cluster that RAY_ADDRESS names.
        cache: where encoded images are kept; None for the usual folder, as `openworld doctor` says.
        cache_limit: what encoded images may take, such as "50GB"; "" for any size.
        allow_corrupt: unreadable images that each image set may lack; more stop the run.
        data: folder of all downloaded data sets; None for $OPENWORLD_DATA.
        quiet: show no progress and print nothing.

    Raises:
        OpenworldError: a spec with a mistake, data that is not there, what a unit raises; what is done is kept.
    """
    from openworld import datasets
    from openworld.evaluations.running import RunOptions, carry_out

    resolved, given, name = _read(spec)
    if data is not None:
        datasets.use_root(Path(data))
    folder = Path(out) if out is not None else Path("runs") / name
    place = None if cache is None else Path(cache)
    options = RunOptions(folder, device, workers, place, allow_corrupt, engine, cache_limit, ("openworld.run",))
    with observing(quiet=quiet) as observer:
        carry_out(resolved, given, options, observer)
    finished = open_run(folder)
    finished.save_report()
    return finished


def _read(spec: Any) -> tuple[Any, Any, str]:
    """The checked spec, the spec as given, and a name for its folder."""
    from openworld.evaluations import evaluation_of, read_protocol
    from openworld.evaluations.recognition.presets import preset
    from openworld.runs import read_given

    if isinstance(spec, str) and spec == "demo":
        return preset("published"), preset("published"), "demo"
    if is_dataclass(spec) and hasattr(spec, "protocol"):
        return spec, spec, evaluation_of(spec).name
    if isinstance(spec, Mapping):
        _require_one(spec)
        resolved = read_protocol(spec)
        return resolved, spec, evaluation_of(resolved).name
    if not isinstance(spec, str | Path):
        raise OpenworldError(f"a spec came as {type(spec).__name__}, expected a TOML file, a mapping or a spec object.")
    if not Path(spec).exists():
        raise OpenworldError(f"{spec} does not exist; give the path of a TOML file (openworld run --help shows one).")
    given = read_given(Path(spec))
    _require_one(given)
    return read_protocol(Path(spec)), given, Path(spec).stem


def _require_one(given: Any) -> None:
    """Refuse a spec of several runs."""
    if isinstance(given, Mapping) and "each" in given:
        raise OpenworldError(
            "the spec has [[each]], which is several runs: carry it out with openworld run SPEC, or run its specs "
            "(openworld.evaluations.each.expand) one by one, and put them together with ow.average."
        )
