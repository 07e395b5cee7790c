"""What was found about a shift, in sentences and in tables for the terminal."""

from openworld.report.figures.figure import percent
from openworld.report.shifts.found import HALVES, Found, Group
from openworld.report.verdict import listed

SHOWN = 10  # groups that a terminal shows; the page has all
NAMED = 3  # groups named in a sentence
FAR = 0.5  # share of a group's pictures beyond the usual from which it is called far


def shift_sentences(found: Found) -> list[str]:
    """The headline, then which concepts and which looks are far, then what "far" is measured by."""
    shares = " and ".join(f"{percent(found.axes[half].beyond)} % in {word}" for half, word in HALVES.items())
    told = [
        f"Of {found.n:,} pictures, {shares} are farther from {found.reference.name} than 95 % of its own pictures are "
        "from one another."
    ]
    told += [_far(found.concepts, "semantic", "concept"), _far(found.looks, "covariate", "look")]
    told.append(
        f"A degree is the cosine distance to the {_ordinal(found.k)} nearest of {found.reference.n:,} reference "
        f"pictures, in the half of {found.backbone}'s features that tells of meaning, or of looks. Among themselves, "
        f"95 % of the reference pictures stay below {found.axes['semantic'].usual:.3f} in meaning and "
        f"{found.axes['covariate'].usual:.3f} in looks."
    )
    return [sentence for sentence in told if sentence]


def terminal_groups(groups: tuple[Group, ...], title: str, half: str):
    """The farthest groups in one half; None without groups."""
    from rich.table import Table

    if not groups:
        return None
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column(title)
    for heading in ("pictures", "meaning", "far", "looks", "far"):
        table.add_column(heading, justify="right")
    for one in ranked(groups, half)[:SHOWN]:
        table.add_row(*cells(one))
    if len(groups) > SHOWN:
        table.caption = f"The {SHOWN} farthest in {HALVES[half]} of {len(groups)}; --out keeps a page with all."
    return table


def terminal_cells(found: Found):
    """Pictures per cell: rows are levels of looks, columns of meaning."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("looks \\ meaning")
    for level in range(len(found.cells[0])):
        table.add_column(str(level), justify="right")
    for level, row in enumerate(found.cells):
        table.add_row(str(level), *(_count(count, found.least) for count in row))
    table.caption = (
        f"Pictures per cell, levels from 0 (near); in brackets: fewer than {found.least}, N/A in statistics."
    )
    return table


def cells(one: Group) -> tuple[str, ...]:
    """A group as text: name, number, and median and share of far ones in both halves."""
    halves = ((one.semantic, one.semantic_beyond), (one.covariate, one.covariate_beyond))
    return (
        one.name,
        f"{one.n:,}",
        *(text for value, share in halves for text in (f"{value:.3f}", f"{percent(share)} %")),
    )


def ranked(groups: tuple[Group, ...], half: str) -> list[Group]:
    """The groups by their median degree in one half, the farthest first."""
    return sorted(groups, key=lambda one: (-getattr(one, half), one.name))


def _far(groups: tuple[Group, ...], half: str, word: str) -> str:
    """Which groups are far, in a sentence; "" without groups."""
    if not groups:
        return ""
    far = [one for one in ranked(groups, half) if getattr(one, f"{half}_beyond") > FAR]
    if not far:
        return f"No {word} is far in {HALVES[half]}: of none do most pictures lie beyond that."
    names = listed([f"{one.name} ({getattr(one, half):.3f})" for one in far[:NAMED]])
    first = f"Farthest in {HALVES[half]}: {names}"
    several = f"{len(far)} of {len(groups)} {word}s are far"
    return f"{first}; {several}, most of their pictures lying beyond that." if len(groups) > 1 else f"{first}."


def _count(count: int, least: int) -> str:
    return f"{count:,}" if count >= least else f"({count})" if count else "·"


def _ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, ..., 11th.

    >>> [_ordinal(number) for number in (1, 2, 3, 10, 11, 21)]
    ['1st', '2nd', '3rd', '10th', '11th', '21st']
    """
    teen = number % 100 in (11, 12, 13)
    return f"{number}{'th' if teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
