"""A few labels from Python: what `openworld label plan` and `openworld label read` do.

Parameters have the names, the meaning and the defaults of the commands' options. Functions of arrays, for programs that
ask people in ways of their own, are in `openworld.labels`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from openworld._errors import OpenworldError
from openworld._types import Range, checked
from openworld.api.inputs import sources_of
from openworld.api.progress import observing
from openworld.report.report import Report


@checked
def label_plan(
    stream: Any = None,
    out: Path | str | None = None,
    *,
    add: Path | str | None = None,
    n: Annotated[int, Range(2)] | None = None,
    within: float | None = None,
    compare: Any = None,
    design: str = "auto",
    quantity: str = "",
    base_names: Path | str | Sequence[str] | None = None,
    no_pictures: bool = False,
    seed: int = 0,
    quiet: bool = False,
) -> Report:
    """Draw the images that are worth a label, and write a folder with a page to label them on.

    Args:
        stream, compare: what `openworld.estimate` returned, for the target that it was about; a file; or columns (a
            mapping of arrays, a table) with `logits`, `classnames` and `n_base`, or `score`, `base_name` and
            `new_name`; of a closed-set classifier `logits` or `probabilities`.
        out: folder of a new plan. add: of a plan that gets a further batch, from the stream of its first where none is
            given.
        n: how many images; None for 100. within: instead, points either way, at best where that can be told.
        design: "auto" (at random, unless labels of earlier batches show that strata are better), "random",
            "stratified" or "poisson".
        base_names: a text file with a name per line, or names.
        quiet: show no progress.

    Returns:
        A report that shows how many labels are needed; `.found.plan` is the `openworld.labels.LabelPlan`,
        `.found.promised` how wide the interval will be, at best and at worst.

    Raises:
        OpenworldError: streams that will not do, a folder that holds something else, more labels than images.
    """
    from openworld.applications.label import command
    from openworld.applications.label.planning import PlanInputs
    from openworld.applications.predict import read_names

    names = base_names
    if isinstance(base_names, str | Path):
        names = read_names(Path(base_names))
    inputs = PlanInputs(
        _stream(stream, "stream"),
        None if out is None else Path(out),
        None if add is None else Path(add),
        _stream(compare, "compared stream"),
        None if names is None else tuple(names),
        n,
        within,
        design,
        quantity,
        seed,
        not no_pictures,
    )
    with observing(quiet=quiet) as observer:
        return command.plan_labels(inputs, observer)


@checked
def label_read(
    folder: Path | str,
    *,
    answers: Path | str | Sequence[Path | str] = (),
    out: Path | str | None = None,
    quiet: bool = False,
) -> Report:
    """Tell what the labels of a plan say, each number with an interval that holds.

    Args:
        folder: that `label_plan` wrote. answers: files of answers; none for those in the folder.
        out: folder of page and numbers; None for that of the plan.
        quiet: show no progress.

    Returns:
        A report that shows the numbers; `.results` are its rows.

    Raises:
        OpenworldError: no plan there, answers that are none or belong to another plan, too few of them.
    """
    from openworld.applications.label import command

    files = (answers,) if isinstance(answers, str | Path) else answers
    place = None if out is None else Path(out)
    with observing(quiet=quiet) as observer:
        return command.read_labels(
            Path(folder), tuple(map(Path, files)), place, observer, {"command": "openworld.label_read"}
        )


def _stream(given: Any, name: str) -> Any:
    if given is None:
        return None
    if isinstance(given, Report) and not given.scores:
        raise OpenworldError(
            f"the report that came as the {name} keeps no scores; give what `openworld.estimate` returned (of images "
            "with `out`, which keeps their scores)."
        )
    sources = list(given.scores) if isinstance(given, Report) else sources_of(given, name)
    if len(sources) > 1:
        raise OpenworldError(f"the {name} came as {len(sources)} files; give one file, or the columns of all images.")
    return sources[0]
