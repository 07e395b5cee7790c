"""The work of `openworld synthesize`: from what a person names to a plan, from that to pictures, and what is said."""

import hashlib
import json
import os
import sys
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from openworld._errors import OpenworldError
from openworld._sizes import size_in_words
from openworld.cli import _shifting as shifting
from openworld.cli import console

BY_WEIGHTS = "sdxl-turbo"


@dataclass(frozen=True)
class Asked:
    """What prompts are wanted, by name. sizes: each, k, levels, least, seed."""

    reference: tuple[str, ...]
    labels: str
    styles: str
    backbone: str
    words: shifting.Words
    device: str
    allow_corrupt: int
    sizes: dict[str, int]


@dataclass(frozen=True)
class Made:
    """Who paints, and where to; nobody with `only_plan`."""

    painter: str
    settings: dict[str, Any]
    screen: str
    batch: int | None
    only_plan: bool
    out: Path | None


@dataclass(frozen=True, eq=False)
class Done:
    """The plan, what painting it takes (or why that is not known), and the finished set or None."""

    plan: Any
    expected: Any
    found: Any


def carry_out(asked: Asked, made: Made, out) -> Done:
    """Measure, plan, say the plan, and paint."""
    from openworld.applications.synthesize.painters import find_screen
    from openworld.backbones.devices import find_device
    from openworld.shift.synthesis import begin, generate

    asked = replace(asked, device=find_device(asked.device))
    if made.out is None and not made.only_plan:
        raise OpenworldError("pictures need a place: give --out FOLDER, or --plan to make nothing.")
    settings, screen = _settings(asked, made), find_screen(made.screen)
    wanted = _wanted(asked, made, settings)
    _hush(out.quiet)
    painter = _painter(made, settings, wanted.prompts)
    with shifting.telling(out.quiet) as told:
        plan = _planned(asked, wanted, made.out, told)
    say_plan(plan, wanted, out)
    if made.only_plan:
        return _tried(plan, painter, made, out)
    begin(plan, painter, made.out, screen)
    with shifting.telling(out.quiet) as told, console.working():
        found = generate(plan, painter, made.out, screen=screen, batch=made.batch, progress=partial(told, "painting"))
    say_made(found, made.out, out)
    return Done(plan, None, found)


def as_json(done: Done) -> str:
    """The plan's report with its cuts, what painting takes, and what was made."""
    told: dict[str, Any] = {"plan": done.plan.report()}
    told |= {name: done.plan.origin[name] for name in ("cuts", "held_out_right")}
    if done.expected is not None:
        unknown = isinstance(done.expected, str)
        told["expected"] = {"unknown": done.expected} if unknown else asdict(done.expected)
    if done.found is not None:
        told["made"] = {"pictures": len(done.found), "refused": done.found.refused}
        told["made"]["fingerprint"] = done.found.images.fingerprint
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def say_plan(plan, wanted, out) -> None:
    """How many prompts and pictures, the table of cells, and cells without."""
    from openworld.applications.synthesize.plan import remarks

    report = plan.report()
    there = len(plan) // plan.count
    cells = plan.shape[0] * plan.shape[1]
    out.print(
        f"{len(plan.prompts):,} prompts: {len(wanted.labels):,} labels in {len(wanted.styles)} styles. "
        f"{there} of {cells} cells have {wanted.least} or more: {there} x {plan.count:,} = {len(plan):,} pictures of "
        f"{report['unique_prompts']:,} different prompts.",
        style="bold",
        markup=False,
    )
    out.print()
    out.print(_cells(plan))
    if report["left_out"]:
        out.print(f"N/A: {cells - there} of {cells} cells, with fewer than {wanted.least} prompts (in brackets).")
    for remark in remarks(plan):
        out.print(f"Note: {remark}", markup=False)


def say_expected(expected, plan, painter: str, out) -> None:
    """Disk and time."""
    out.print()
    if isinstance(expected, str):
        out.print(f"What painting takes is not known: {expected}", markup=False)
        return
    out.print(
        f"Painting takes about {size_in_words(expected.size)} of disk and {console.duration(expected.seconds)} here "
        f"with {painter} (tried on {expected.tried} of the {len(plan):,} pictures, none kept).",
        markup=False,
    )


def say_made(found, folder: Path, out) -> None:
    """What lies where."""
    out.print()
    refused = f"; the screen refused {found.refused:,} more" if found.refused else ""
    out.print(f"{len(found):,} pictures in {folder}{refused}.", markup=False)
    out.print(f"Manifest: {folder / 'manifest.json'}   Table: {folder / 'images.parquet'}", markup=False)
    out.print(f'As a test set, in a spec of incremental-shift: cells = {{ generated = "{folder}" }}', markup=False)


def _settings(asked: Asked, made: Made):
    from openworld.applications.synthesize.painters import PainterSettings

    return PainterSettings(**made.settings, device=asked.device, download=not made.only_plan)


def _wanted(asked: Asked, made: Made, settings):
    from openworld.applications.synthesize.painters import find_styles, shown_labels
    from openworld.applications.synthesize.plan import Wanted
    from openworld.datasets.names.class_names import class_names

    if not asked.labels and made.painter != "rendered":
        raise OpenworldError("give --labels: a text file with a name per line, or a data set of `openworld list`.")
    names = class_names(asked.labels).names if asked.labels else shown_labels(settings.drawings())
    return Wanted(names, find_styles(asked.styles, made.painter), **asked.sizes)


def _tried(plan, painter, made: Made, out) -> Done:
    """What painting takes, by painting a little; or why that is not known."""
    from openworld.applications.synthesize.plan import expect

    with console.working():
        expected = painter if isinstance(painter, str) else expect(plan, painter, made.batch)
    say_expected(expected, plan, made.painter, out)
    return Done(plan, expected, None)


def _hush(quiet: bool) -> None:
    """No warnings of packages that nothing here needs, while other people's packages load, and no bars in a log."""
    for package in ("DIFFUSERS", "TRANSFORMERS"):
        os.environ.setdefault(f"{package}_VERBOSITY", "error")
    if quiet or not sys.stderr.isatty():
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")


def _painter(made: Made, settings, prompts):
    """The painter; or why it cannot be had, where only a plan is wanted and weights may not have come yet."""
    from openworld.applications.synthesize.painters import find_painter

    try:
        return find_painter(made.painter, settings, prompts)
    except OpenworldError as error:
        if made.only_plan and made.painter == BY_WEIGHTS:
            return str(error)
        raise


def _planned(asked: Asked, wanted, folder: Path | None, told):
    """The plan, by the division that the folder keeps, or by one that is measured now."""
    from openworld.applications.shift.images import Reader, gather
    from openworld.applications.synthesize import plan as synthesizing
    from openworld.applications.synthesize.kept_division import keep_division, kept_division
    from openworld.evaluations.runtime import backbone

    references = tuple(gather(one) for one in asked.reference)
    clip = backbone(asked.backbone, asked.device)
    names = _names(wanted.labels, references)
    request = wanted.request(references, clip, _split(asked, names, wanted.seed))
    division = kept_division(folder, request) if folder is not None else None
    if division is None:
        synthesizing.require_readable(wanted, clip)
        decomposition = shifting.split_for(asked.words, clip, names, wanted.seed, told)
        with console.working():
            reader = Reader(clip, asked.allow_corrupt, None, told)
            division = synthesizing.divide(wanted, references, decomposition, reader)
        if folder is not None:
            keep_division(folder, wanted, request, division, decomposition)
    return synthesizing.plan(wanted, division, request)


def _names(labels: tuple[str, ...], references) -> tuple[str, ...]:
    """What LAID learns from: labels and the names of the reference's classes, each once."""
    from openworld.datasets.names.forms import normalise_class_name

    every = (*labels, *(name for one in references for name in one.classnames))
    return tuple({normalise_class_name(name): name for name in every}.values())


def _split(asked: Asked, names: tuple[str, ...], seed: int) -> dict[str, Any]:
    """Which decomposition: the bytes of a kept one, or what one is fitted to."""
    from openworld.runs import digest

    if asked.words.laid is None:
        templates = shifting.lines_of(asked.words.templates)
        return {"method": "LAID", "names": digest(names), "templates": templates, "seed": seed}
    try:
        return {"file": hashlib.sha256(asked.words.laid.read_bytes()).hexdigest()}
    except OSError as error:
        raise OpenworldError(f"{asked.words.laid} cannot be read ({error}); give a kept LAID.") from error


def _cells(plan):
    """Different prompts per cell: rows are levels of looks, columns of meaning."""
    from openworld import _terminal as terminal

    heads = (terminal.name("looks \\ meaning"), *(terminal.Head(str(level)) for level in range(plan.shape[1])))
    rows = []
    for level in range(plan.shape[0]):
        columns = (plan.unique[level], plan.repeats[level], plan.candidates[level])
        rows.append((str(level), *(_cell(*map(int, one)) for one in zip(*columns, strict=True))))
    caption = "Different prompts drawn per cell (x: the commonest is painted so often), levels from 0 (near)."
    return terminal.TerminalTable(heads, rows, caption)


def _cell(unique: int, repeats: int, candidates: int) -> str:
    """What the table says of a cell.

    >>> _cell(100, 1, 250), _cell(12, 9, 12), _cell(0, 0, 3), _cell(0, 0, 0)
    ('100', '12 x9', '(3)', '·')
    """
    if not unique:
        return f"({candidates})" if candidates else "·"
    return f"{unique:,} x{repeats}" if repeats > 1 else f"{unique:,}"
