"""Plan which images to label: say how many are needed, draw them, and write plan, worksheet and page."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError, failing
from openworld.core.plain_files import read_lines
from openworld.core.progress import SILENT, Observer
from openworld.core.representation import short_repr
from openworld.labels import (
    AUTO,
    DesignChoice,
    LabelPlan,
    PlanSettings,
    Promise,
    ScoredStream,
    choose_design,
    labels_needed,
    plan,
    promise,
)
from openworld.labels.estimate import ENOUGH, ENOUGH_OF_RARE, RARE
from openworld.labels.plan import FEWEST, Earlier
from openworld.metrics import SOFT_QUANTITIES
from openworld.own_data.label.frame import LabelFrame, read_frame, some_rows
from openworld.own_data.label.kept_plan import PLAN, KeptBatch, KeptPlan, read_plan
from openworld.own_data.label.page import PageImages, read_images, render_page
from openworld.own_data.label.question import worksheet_text
from openworld.own_data.label.reading import answers_in, labelled
from openworld.runs.atomic import write_file
from openworld.runs.outputs import LABEL_PLAN, LABELLED, require_folder
from openworld.tables.files import ScoreFile

WORKSHEET, PAGE = "worksheet.csv", "label.html"
USUAL = 100  # labels
FINEST = 0.1  # points either way; less is a fraction that was meant for points
HALF_WIDTHS = (0.1, 0.05, 0.03, 0.02)
AT_BEST, AT_WORST = "at best", "at worst"
QUANTITIES = ("openworld_auc", "auroc", "base_accuracy", "new_accuracy", "overall_accuracy", "base_share")
UNLUCKY = 1.28  # standard deviations that one draw in ten falls short by
TELLING = 50_000  # images whose proxies say how many labels are needed; of more a sample is asked
Source = Path | str | ScoreFile


@dataclass(frozen=True)
class Planned:
    """A plan that was made."""

    kept: KeptPlan
    folder: Path
    page_images: PageImages  # of the last batch
    files: Mapping[str, bytes]  # {relative path: content} of images beside its page
    # by (quantity, AT_BEST or AT_WORST) labels for each of `HALF_WIDTHS`
    needed: dict[tuple[str, str], tuple[int, ...]]
    choice: DesignChoice
    promised: Promise
    few: tuple[str, ...]  # what may be too few, in sentences

    __repr__ = short_repr

    @property
    def batch(self) -> KeptBatch:
        return self.kept.batches[-1]

    @property
    def plan(self) -> LabelPlan:
        return self.kept.plans[-1]

    def file(self, name: str) -> Path:
        """Return the path of the worksheet or the page of the batch."""
        return self.folder / self.batch.file(name, len(self.kept.batches) - 1)


def make_plan(
    stream: Source | None = None,
    out: Path | None = None,
    *,
    add: Path | None = None,
    compare: Source | None = None,
    base_names: Path | Sequence[str] | None = None,
    n: int | None = None,
    within: float | None = None,
    design: str = AUTO,
    quantity: str = "",
    seed: int = 0,
    no_images: bool = False,
    observer: Observer = SILENT,
) -> Planned:
    """Make a plan as `openworld.label_plan` does, or draw a further batch of the one in `add`, and write the folder."""
    _require_together(stream, out, add, n, within)
    base_names = read_lines(base_names, "name") if isinstance(base_names, Path) else base_names
    earlier = None if add is None else read_plan(add)
    before = _answered(earlier, add)
    observer.progress("reading the stream", 0)
    sources = tuple(source for source in (stream, compare) if source is not None)
    if earlier is not None and add is not None:
        sources = _sources_again(sources, stream, earlier, add)
        base_names = base_names or (None if earlier.closed else earlier.base_names)
    frame = read_frame(sources[0], sources[1] if sources[1:] else None, base_names)
    how: Any = design  # `PlanSettings` knows them
    settings = PlanSettings(design=how, seed=seed if earlier is None else seed + len(earlier.batches))
    of, streams = _quantity(quantity, frame, earlier), frame.streams
    observer.progress("counting labels", 0)
    expects = set(SOFT_QUANTITIES) if before else frame.expects
    needed = needed_labels(streams, frame, settings, of, expects, before)
    n = n or USUAL
    if within is not None:
        given: Any = {"of": of, "settings": settings, "earlier": before, "at_worst": (of, AT_BEST) not in needed}
        enough: Any = labels_needed(streams, within / 100, **given)
        n = max(enough - (0 if earlier is None else earlier.asked), FEWEST)
    observer.progress("drawing", 0)
    choice = choose_design(streams, n, of=of, settings=settings, earlier=before)
    drawn, place = plan(streams, n, of=of, settings=settings, earlier=before), len(before)
    promised = promise(drawn, before)
    if (of, AT_BEST) not in needed:
        promised = replace(promised, at_best=None)
    batch = _batch(frame, drawn, place)
    shown, files = [("", 0)] * len(batch), {}
    if frame.images is not None and not no_images:
        paths = [str(frame.images[row]) for row in drawn.chosen]
        shown, files = read_images(paths, frame.folders, observer.progress, batch.file("images", place))
    if earlier is None:
        kept = KeptPlan(
            stream=frame.name,
            sources=tuple(str(Path(own).resolve()) if isinstance(own, str | Path) else "" for own in sources),
            models=frame.models,
            base_names=frame.base_names,
            new_names=frame.new_names,
            closed=frame.closed,
            left_out=frame.left_out,
            batches=(batch,),
            plans=(drawn,),
            groups=frame.groups,
        )
    else:
        kept = replace(earlier, batches=(*earlier.batches, batch), plans=(*earlier.plans, drawn))
    folder: Any = out or add
    planned = Planned(kept, folder, shown, files, needed, choice, promised, tuple(_too_few(frame, drawn, of)))
    with failing():
        _write(planned, frame)
    return planned


def _require_together(
    stream: Source | None, out: Path | None, add: Path | None, n: int | None, within: float | None
) -> None:
    """Refuse what contradicts itself, before any work."""
    if (out is None) == (add is None):
        raise OpenworldError("give one of --out DIR, for a new plan, and --add DIR, for a further batch of a plan.")
    if n is not None and within is not None:
        raise OpenworldError("give one of --n and --within: so many labels, or as many as the half-width takes.")
    if within is not None and not FINEST <= within < 50:
        fraction = f": {100 * within:g} for a fraction of {within:g}" if 0 < within < FINEST else ", such as 3"
        raise OpenworldError(f"--within is {within:g}, expected points either way, {FINEST} to 50{fraction}.")
    require_folder("--add", add, own=(LABEL_PLAN, LABELLED))
    if out is not None:
        require_folder("--out", out, own=(LABEL_PLAN,), alone=(WORKSHEET, PAGE, "images"))
        if (out / PLAN).exists():
            raise OpenworldError(f"--out {out} holds a plan; add a batch with --add, or give another folder.")
        if stream is None:
            raise OpenworldError("no stream came; name the file of a model's scores and names.")


def needed_labels(
    streams: tuple[ScoredStream, ...],
    frame: LabelFrame,
    settings: PlanSettings,
    of: str,
    expects: Set[str],
    earlier: Earlier = (),
) -> dict[tuple[str, str], tuple[int, ...]]:
    """Return labels for each half-width by quantity, that of the plan first; best only of what is `expects`."""
    wanted = [of] if frame.closed else [of, *(name for name in QUANTITIES if name != of)]
    without = {"overall_accuracy"} if any(stream.expected.right is None for stream in streams) else set()
    without |= {"base_share"} if streams[1:] else set()  # which is the same of both models
    asked = streams
    if len(frame) > TELLING and not earlier:
        rows = np.sort(np.random.default_rng(settings.seed).choice(len(frame), TELLING, replace=False))
        asked = tuple(some_rows(stream, rows) for stream in streams)
    needed: dict[tuple[str, str], Any] = {}
    for name, case in product((name for name in wanted if name not in without), (AT_BEST, AT_WORST)):
        if case == AT_WORST or name in expects:
            options: Any = {"of": name, "settings": settings, "earlier": earlier, "at_worst": case == AT_WORST}
            needed[name, case] = tuple(labels_needed(asked, half, **options) for half in HALF_WIDTHS)
    return {key: counts for key, counts in needed.items() if None not in counts}


def _sources_again(
    given: tuple[Source, ...], stream: Source | None, earlier: KeptPlan, folder: Path
) -> tuple[Source, ...]:
    """Return the streams of a further batch: those that came, or those of the first batch."""
    if stream is not None:
        if len(given) != len(earlier.models):
            raise OpenworldError(
                f"the plan of {folder} is of {len(earlier.models)} model(s), and {len(given)} stream(s) came; give "
                "those of the first batch, or none."
            )
        return given
    gone = [source for source in earlier.sources if not source or not Path(source).is_file()]
    if gone:
        raise OpenworldError(f"the stream of the first batch, {gone[0] or 'arrays'}, is not there; give it again.")
    return earlier.sources


def _quantity(wanted: str, frame: LabelFrame, earlier: KeptPlan | None) -> str:
    usual = earlier.plans[0].of if earlier is not None else "overall_accuracy" if frame.closed else "openworld_auc"
    quantity = wanted.replace("-", "_") or usual
    if frame.closed and quantity == "accuracy":
        quantity = "overall_accuracy"
    if frame.models[1:] and quantity == "base_share":
        raise OpenworldError("--quantity base_share came with two models, of which it is the same; plan with one.")
    if frame.closed and quantity != "overall_accuracy":
        raise OpenworldError(
            f"--quantity {wanted} came, but {frame.name} is of a closed-set classifier, whose number is the "
            "accuracy; for an open-world stream the file says n_base, or give --base-names FILE."
        )
    return quantity


def _answered(earlier: KeptPlan | None, folder: Path | None) -> list:
    """Return the earlier batches with their answers, all of which are needed before more images are drawn."""
    if earlier is None or folder is None:
        return []
    answers, _ = answers_in(earlier, folder)
    open_rows = earlier.asked - len(answers)
    if open_rows:
        raise OpenworldError(f"{open_rows} of the {earlier.asked} images of {folder} have no answer yet; answer them.")
    return labelled(earlier, answers).batches


def _batch(frame: LabelFrame, drawn: LabelPlan, place: int) -> KeptBatch:
    rows = drawn.chosen.tolist()
    known = frame.all_names
    joint = [stream.joint_name for stream in frame.streams if stream.joint_name is not None]
    whole = len(joint) == len(frame.streams)
    among_all = tuple(tuple(known[part[row]] for row in rows) for part in joint) if whole else None
    mark = f"{drawn.fingerprint[:8]}-{place + 1}" if place else drawn.fingerprint[:8]
    return KeptBatch(mark, tuple(str(frame.ids[row]) for row in rows), tuple(map(frame.names, rows)), among_all)


def _too_few(frame: LabelFrame, drawn: LabelPlan, of: str) -> Iterator[str]:
    """Yield what the number may lack, as far as the stream expects it."""
    if frame.closed or of == "base_share":
        return
    expected = drawn.streams[0].expected
    for side in ("base", "new"):
        chances, share = getattr(expected, side)[drawn.chosen], float(getattr(expected, side).mean())
        count, spread = float(chances.sum()), float(np.sqrt((chances * (1 - chances)).sum()))
        needed = ENOUGH if share >= RARE else ENOUGH_OF_RARE
        if count - UNLUCKY * spread < needed < len(frame):
            yield (
                f"About {count:.0f} of the {len(drawn)} images are expected to be {side} ones; OpenworldAUC takes "
                f"{needed} of {'so rare a' if share < RARE else 'either'} side, so more labels may be needed."
            )


def _write(planned: Planned, frame: LabelFrame) -> None:
    """Write the worksheet, the page and its images, and at last the plan, without which they are nothing."""
    batch, rows, folder = planned.batch, planned.plan.chosen, planned.folder
    images = [""] * len(batch) if frame.images is None else [str(frame.images[row]) for row in rows]
    shown = [image or f"id {own}" for image, own in zip(images, batch.ids, strict=True)]
    for name, content in planned.files.items():
        write_file(folder / name, content)
    known = (planned.kept.base_names, planned.kept.new_names)
    page = render_page(batch.mark, str(folder), batch.ids, shown, batch.names, planned.page_images, known)
    write_file(planned.file(PAGE), page.encode())
    write_file(planned.file(WORKSHEET), worksheet_text(batch.mark, batch.ids, images, batch.names).encode())
    planned.kept.write(folder)
