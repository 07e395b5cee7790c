"""Evaluations from a spec: `openworld run` and `openworld demo`."""

from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from openworld.api.answers import TextReport
from openworld.api.arguments import EVERY, OutputFolder, Spec
from openworld.api.finished_runs import plain_records
from openworld.api.work import made_by
from openworld.core.console import Ending, observing
from openworld.core.errors import OpenworldError, failing
from openworld.core.types import Count, Range, checked

if TYPE_CHECKING:
    from openworld.evaluations.running import RunOptions
    from openworld.report.report import Report


@checked
def run(
    spec: Spec,
    out: Annotated[Path | str | None, OutputFolder(own=("a run",), pages=(EVERY,))] = None,
    *,
    device: str = "auto",
    workers: Annotated[int, Range(0, 1024)] = 0,
    engine: Literal["local", "ray"] = "local",
    cache: Path | str | None = None,
    cache_limit: str = "",
    allow_corrupt: Count = 0,
    data: Path | str | None = None,
    quiet: bool = False,
) -> "Report | TextReport":
    """Tune learners on some classes, test them on these and on new ones, and write records and a report.

    ```
    openworld run my-run.toml --device cuda
    ```

    A learner tunes a model such as CLIP on a few labelled images of base classes; other classes are new to it. Then it
    is measured whether it tells the two apart and names both. The spec says which classes are base; left out, it is
    the first half (with the odd one) in the order of the folders' names, or of the numbers in a list.

    A spec names a data set, a backbone and learners; only learners must be given, the rest has these defaults. All
    fields: docs/reference/specs.md; `openworld new recognition` writes a spec for your folders.

    ```toml
    dataset = "emoji-concepts"  # of `openworld list`, or an image folder
    base = []                   # names, or "names.txt"; [] is the first half
    new = []                    # [] is all others; or base and new are
                                # two folders of images, without dataset
    train_domain = "twemoji"    # a style here, or a sub-folder
    test_domain = "twemoji"     # left out: that of training
    backbone = "embedded"       # of `openworld list`, a folder, a hub id
    seeds = [1, 2, 3]
    shots = 16                  # images of each base class; [1, 4, 16] sweeps
    crop_scale = [0.5, 1.0]     # how much of it a view keeps; [0.08, 1.0]
                                # of images that are not embedded
    operating = { miss_rate = 0.2 }  # choose each threshold; default none

    [[learners]]
    learner = "zero-shot"

    [[learners]]
    learner = "GMoP"
    label = "GMoP, alpha and K chosen"
    settings = { gate = "sigmoid", schedule = { epochs = 40 } }
    choose = { alpha = [0.1, 0.5, 1.0], detectors = [2, 3] }
    ```

    `choose` decides on validation images of base classes. `operating` chooses, on validation images too, the threshold
    below which a learner calls an image new, by one rule: `{ miss_rate = 0.2 }`, `{ hit_rate = 0.5 }`, or costs such as
    `{ base_missed = 1.0, new_unhit = 5.0, new_share = 0.1 }`; `openworld decide` does so afterwards.

    Class names are checked first (`openworld data audit`); what is wrong with them is reported, and the run goes on.

    A run that was killed resumes when it is started again. Its records are the same bytes as in one go, with any engine
    and any number of workers. A finished run takes more: with further learners, seeds, data sets, models,
    estimators or detectors in its spec, only units that these change are computed. `--engine ray` needs `pip install
    'openworld[ray]'`; on a cluster, give folders for `--out` and `--cache` that all nodes share.

    **Several data sets**, in any evaluation: `[[each]]` tables in the spec, each with a name and the fields that are
    otherwise there. Each is a run in OUT/NAME; OUT/report.html has the means over them, ranks and tests
    (`openworld average`). Recognition also takes `datasets = ["dtd", "eurosat"]` in one run.

    ```toml
    [[each]]
    name = "eurosat"
    dataset = "eurosat"
    ```

    **Other questions** have a line at the head of their spec; `examples/NAME-embedded.toml` is a complete spec of most:

    - `protocol = "generalisation"` tunes on one data set and tests on others: the same classes drawn or photographed
      otherwise, and new classes.
    - `protocol = "dynamic"` lets classes and images change step by step after tuning.
    - `protocol = "accuracy-estimation"` trains classifiers, or loads yours, shows them changed images, and compares
      their accuracy as it is estimated without labels with the true one.
    - `protocol = "ood-detection"` sorts images into cells by how far they are from the training images, in meaning and
      in appearance, and asks in every cell whether detectors notice.
    - `protocol = "recognition-by-shift"` does so with learners.
    - `protocol = "ood-benchmark"` compares detectors on named sets, near and far; for one model `openworld detect` does
      so without a spec.
    - `protocol = "decomposed-zero-shot"` splits the features of images into meaning and appearance, and names images by
      either half alone.

    Args:
        spec: path of a TOML file, as below; in Python also the same as a mapping, a spec such as
            `RecognitionSpec(...)`, or "demo".
        out: folder of the run; default: runs/NAME OF THE SPEC. A run that is not finished is continued, and a finished
            one takes more.
        device: auto (all GPUs there are), cpu, cuda, mps, cuda:1, or cuda:0,cuda:1.
        workers: processes; 0: one per core, on GPUs as many as their memory holds.
        engine: local: this machine; ray: Ray here, or the cluster that RAY_ADDRESS names.
        cache: folder of encoded images; default: see `openworld doctor`.
        cache_limit: how much encoded images may take, such as 50GB; what is not kept is computed again.
        allow_corrupt: how many unreadable images each image set may have; with more the run stops.
        data: folder of all downloaded data sets; default: $OPENWORLD_DATA.
        quiet: show no progress; on the command line, print nothing but errors.

    Returns:
        The finished run; of a spec with `[[each]]` the means over its runs. Of an evaluation that brings no report,
        which only another package's may be, its records in an `TextReport`.

    Raises:
        OpenworldError: a spec with a mistake, data that is not there, what a unit raises; what is done is kept.
    """
    resolved, given, name = _read(spec)
    from openworld import datasets
    from openworld.evaluations.running import RunOptions, carry_out

    if data is not None:
        datasets.use_root(data)
    folder = Path(out or Path("runs", name))
    cache = None if cache is None else Path(cache)
    options = RunOptions(folder, device, workers, cache, allow_corrupt, engine, cache_limit, made_by("run"))
    if resolved is None:
        return _run_each(given, options, quiet=quiet)
    with observing(quiet=quiet) as observer:
        carry_out(resolved, given, options, observer)
    return _finished(folder)


@checked
def demo(
    out: Annotated[Path | str, OutputFolder(own=("a run",))] = "runs/demo",
    *,
    preset: str = "published",
    style: str = "twemoji",
    redrawn: str = "",
    device: str = "auto",
    workers: Annotated[int, Range(0, 1024)] = 0,
    quiet: bool = False,
) -> "Report":
    """Zero-shot CLIP, CoOp, KgCoOp and GMoP on the embedded world: from images to report, no download.

    One hundred emoji, fifty of them seen in training, in a drawing style that the embedded CLIP never saw. Ends with a
    table, a page with curves and images, and the records of every image. Run it again: nothing is computed twice.

    Args:
        out: folder of the run; an unfinished run in it is continued.
        preset: published: the papers' settings; quick: a fifth of their epochs, too few to rank the methods.
        style: drawing style of shots and test images (openworld list datasets).
        redrawn: another style for the test images: the redrawn split.
        device: auto (all GPUs there are), cpu, cuda, mps, cuda:1, or cuda:0,cuda:1.
        workers: processes; 0: one per core, on GPUs as many as their memory holds.
        quiet: show no progress; on the command line, print nothing but errors.

    Returns:
        The finished run.

    Raises:
        OpenworldError: an unknown preset or style.
    """
    from openworld.evaluations.recognition import spec as recognition
    from openworld.evaluations.running import RunOptions, carry_out

    spec = replace(recognition.preset(preset), train_domain=style, test_domain=redrawn or style)
    few = "preset quick: 10 to 20 epochs, where the papers run 50 to 100; too few to rank the methods"
    remark = few if preset == "quick" else ""
    options = RunOptions(Path(out), device, workers, command=made_by("demo"), remark=remark)
    with observing(quiet=quiet) as observer:
        carry_out(spec, spec, options, observer)
    return _finished(options.folder)  # ty: ignore[invalid-explicit-return]: recognition has a report


def _read(spec: Any) -> tuple[Any, Any, str]:
    """The checked spec, None of a spec of several runs; the spec as given, and a name for its folder."""
    from openworld.evaluations import evaluation_of, read_protocol
    from openworld.runs import read_given

    if isinstance(spec, str) and spec == "demo":
        from openworld.evaluations.recognition.spec import preset

        return preset("published"), preset("published"), "demo"
    if is_dataclass(spec) and hasattr(spec, "protocol"):
        return spec, spec, evaluation_of(spec).name
    if isinstance(spec, Mapping):
        resolved = None if "each" in spec else read_protocol(spec)
        return resolved, spec, "each" if resolved is None else evaluation_of(resolved).name
    if not isinstance(spec, str | Path):
        raise OpenworldError(f"a spec came as {type(spec).__name__}, expected a TOML file, a mapping or a spec object.")
    if not Path(spec).exists():
        raise OpenworldError(f"{spec} does not exist; give the path of a TOML file (openworld run --help shows one).")
    keys = read_given(Path(spec))
    several = isinstance(keys, Mapping) and "each" in keys
    return None if several else read_protocol(Path(spec)), keys, Path(spec).stem


def _run_each(given: Mapping[str, Any], options: "RunOptions", *, quiet: bool) -> "Report | TextReport":
    """Carry out every run of a spec with `[[each]]` in a folder of its own, and return their means.

    All specs are checked, and their data looked for, before the first run begins.
    """
    from openworld.evaluations.finished_runs import average_runs, read_each, read_report
    from openworld.evaluations.running import carry_out
    from openworld.runs.outputs import RUN, require_folder

    specs = read_each(given)
    for name in specs:
        require_folder("--out", options.folder / name, own=(RUN,))
    for place, (name, (fields, spec)) in enumerate(specs.items(), start=1):
        with observing(quiet=quiet) as observer:
            observer.say(f"[{place}/{len(specs)}] {name}")
            carry_out(spec, fields, replace(options, folder=options.folder / name), observer)
        with failing():
            read_report(options.folder / name).write()
    if len(specs) < 2:
        return _finished(options.folder / next(iter(specs)))
    report = average_runs({name: options.folder / name for name in specs})
    report.write(options.folder)
    return replace(report, ending=Ending.at(options.folder, f"Runs: {options.folder}/"))


def _finished(folder: Path) -> "Report | TextReport":
    """Return the run in a folder, with its page and all numbers written; its records, where there is no report."""
    from openworld.evaluations import report_of
    from openworld.evaluations.finished_runs import evaluation_name, read_report

    with failing():
        if not report_of(evaluation_name(folder)):
            records = plain_records(folder)
            lines = (
                f"{len(records)} records; this evaluation brings no report.",
                f"Records: {folder}/   Numbers: openworld report {folder} --table json",
            )
            return TextReport(lines, records)
        report = read_report(folder)
        place = f"Report: {report.write()}   Records: {folder}/   All numbers: {folder}/results.parquet"
    return replace(report, ending=Ending(place))
