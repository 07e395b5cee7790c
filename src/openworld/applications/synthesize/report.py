"""What is said of a plan and of a finished set: sentences, and the table of cells."""

from collections.abc import Iterator
from pathlib import Path

from openworld._sizes import duration, size_in_words
from openworld.applications.shift.remarks import unsure
from openworld.applications.synthesize.command import PlannedSet
from openworld.applications.synthesize.plan import Expected
from openworld.report.shift_axes import AXES
from openworld.report.table import Column, Row, Table
from openworld.results import METRICS
from openworld.shifts.synthesis import GeneratedSet, SynthesisPlan


def headline(planned: PlannedSet) -> str:
    """Return how many prompts and images there are."""
    plan, options, cells = planned.plan, planned.options, _filled(planned.plan)
    return (
        f"{len(plan.prompts):,} prompts: {len(options.labels):,} labels in {len(options.styles)} styles. "
        f"{cells} of {plan.shape[0] * plan.shape[1]} cells have {options.least} or more: {cells} x {plan.count:,} = "
        f"{len(plan):,} images of {plan.report()['unique_prompts']:,} different prompts."
    )


def cell_table(plan: SynthesisPlan) -> Table:
    """Return different prompts per cell: rows are levels of appearance, columns of meaning."""
    rows = []
    for level in range(plan.shape[0]):
        columns = (plan.unique[level], plan.repeats[level], plan.candidates[level])
        rows.append(Row(str(level), tuple(_cell(*map(int, cell)) for cell in zip(*columns, strict=True))))
    caption = "Different prompts drawn per cell (x: the commonest is painted so often), levels from 0 (near)."
    heads = tuple(Column(METRICS["images"], str(level)) for level in range(plan.shape[1]))
    label = f"{AXES['covariate']} \\ {AXES['semantic']}"
    return Table("cells", "Prompts of every cell", caption, label, heads, tuple(rows), best="")


def plan_notes(planned: PlannedSet) -> Iterator[str]:
    """Yield which cells have no images, and what to know before trusting the levels."""
    plan, cells = planned.plan, planned.plan.shape[0] * planned.plan.shape[1]
    if plan.report()["left_out"]:
        least = planned.options.least
        yield f"N/A: {cells - _filled(plan)} of {cells} cells, with fewer than {least} prompts (in brackets)."
    for half, other, share in unsure(plan.origin["held_out_right"]):
        yield (
            f"Note: of the texts kept back to try it, the half for {AXES[half]} puts {100 * share:.0f} % in the right "
            f"order, so what is far in {other} moves its levels too; look at the images of each level."
        )


def expected_line(expected: Expected | str, planned: PlannedSet) -> str:
    """Return what painting takes: disk and time."""
    if isinstance(expected, str):
        return f"What painting takes is not known: {expected}"
    return (
        f"Painting takes about {size_in_words(expected.size)} of disk and {duration(expected.seconds)} here with "
        f"{planned.inputs.painter} (tried on {expected.tried} of the {len(planned.plan):,} images, none kept)."
    )


def made_lines(made: GeneratedSet, folder: Path) -> tuple[str, ...]:
    """Return what lies where."""
    refused = f"; the screen refused {made.refused:,} more" if made.refused else ""
    return (
        f"{len(made):,} images in {folder}{refused}.",
        f"Manifest: {folder / 'manifest.json'}   Table: {folder / 'images.parquet'}",
        f'As a test set, in a spec of ood-detection: cells = {{ generated = "{folder}" }}',
    )


def _filled(plan: SynthesisPlan) -> int:
    return len(plan) // plan.count


def _cell(unique: int, repeats: int, candidates: int) -> str:
    """Return what the table says of a cell.

    >>> _cell(100, 1, 250), _cell(12, 9, 12), _cell(0, 0, 3), _cell(0, 0, 0)
    ('100', '12 x9', '(3)', '·')
    """
    if not unique:
        return f"({candidates})" if candidates else "·"
    return f"{unique:,} x{repeats}" if repeats > 1 else f"{unique:,}"
