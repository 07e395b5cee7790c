"""What was found of a run's class names before it began: read from the run's folder, and laid out for the page.

The audit is no part of a record: it says what to think of a number and changes none, and how much of it could be done
depends on the machine (WordNet is not installed everywhere).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from openworld._errors import OpenworldError
from openworld.datasets.names.findings import SEVERITIES, Audit, Finding
from openworld.report.data_files import json_text
from openworld.runs.atomic import write_file

FILE = "audit.json"
IN_WORDS = 3  # errors and warnings that a terminal shows; the others are counted
SHOWN = 6  # findings of a data set that the page shows unfolded


@dataclass(frozen=True)
class NamesPart:
    """One data set: what was found in a line, the worst findings, and the others."""

    heading: str
    shown: tuple[Finding, ...]
    folded: tuple[Finding, ...]


@dataclass(frozen=True)
class NamesSection:
    """The section of the page: sentences, a part per data set with findings, and what was not looked at."""

    told: tuple[str, ...]
    parts: tuple[NamesPart, ...]
    not_made: tuple[str, ...]


def audits_text(audits: Sequence[Audit]) -> str:
    """Audits as the text of FILE."""
    return json_text({"audits": [one.to_dict() for one in audits]})


def read_audits(folder: Path | str) -> tuple[Audit, ...]:
    """The audits of the run in a folder; none where none were made.

    Raises:
        OpenworldError: a file that holds something else.
    """
    path = Path(folder) / FILE
    if not path.is_file():
        return ()
    try:
        return tuple(Audit.from_dict(one) for one in json.loads(path.read_bytes())["audits"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise OpenworldError(f"{path} is damaged ({error}). Delete it; the next start writes it again.") from error


def names_section(audits: Sequence[Audit]) -> NamesSection | None:
    """The section of the page; None where no names were looked at."""
    if not audits:
        return None
    clean = [one for one in audits if not one.findings]
    parts = tuple(NamesPart(one.headline, one.findings[:SHOWN], one.findings[SHOWN:]) for one in audits if one.findings)
    told = [headline(audits)]
    if clean:
        listed = "; ".join(f"{one.dataset} ({one.classes})" for one in clean)
        told.append(f"Nothing was found among the class names of {listed}.")
    return NamesSection(tuple(told), parts, tuple(dict.fromkeys(one for audit in audits for one in audit.not_made)))


def headline(audits: Sequence[Audit]) -> str:
    """All audits in a sentence.

    >>> headline([Audit("pets", 37, (Finding("misspelling", "note", ("cat", "cab"), "Is it?"),))])
    'Looked at before the run began: 37 class names, 1 note.'
    """
    total = sum(one.classes for one in audits)
    return f"Looked at before the run began: {total} class names, {counted(audits) or 'nothing found'}."


def counted(audits: Sequence[Audit], severities: Sequence[str] = SEVERITIES) -> str:
    """How many findings of each severity, in words; "" where there is none.

    >>> counted([Audit("pets", 37)])
    ''
    """
    counts = {severity: sum(one.counts[severity] for one in audits) for severity in severities}
    return ", ".join(f"{count} {severity}{'s' * (count > 1)}" for severity, count in counts.items() if count)


def audit_lines(audits: Sequence[Audit], folder: Path | None) -> list[str]:
    """Return what a terminal says of the audits, nothing without error or warning; `folder` keeps all of them."""
    grave = [finding for audit in audits for finding in audit.findings if finding.severity != "note"]
    grave.sort(key=lambda finding: finding.severity != "error")
    if not grave:
        return []
    worst = f", the first {IN_WORDS} here" if len(grave) > IN_WORDS else ""
    sentences = [f"  {finding.severity}: {finding.sentence}" for finding in grave[:IN_WORDS]]
    where = "" if folder is None else f" (the whole audit: {folder / FILE})"
    return [f"class names: {counted(audits, ('error', 'warning'))}{worst}{where}", *sentences]


def keep_audits(audits: Sequence[Audit], folder: Path) -> None:
    """Write the whole audit into a folder, unless it lies there."""
    data, path = audits_text(audits).encode(), folder / FILE
    if not path.is_file() or path.read_bytes() != data:
        write_file(path, data)
