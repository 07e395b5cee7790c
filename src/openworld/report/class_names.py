"""The audit of a run's class names, made before it began: kept in its folder, told on the page and on the terminal.

The audit is no part of a record: it says what to think of a number and changes none, and how much of it could be done
depends on the machine (WordNet is not installed everywhere).
"""

from collections.abc import Sequence
from pathlib import Path

from openworld._errors import OpenworldError
from openworld._plain import parse_json
from openworld.datasets.names.findings import SEVERITIES, Audit
from openworld.report.data_files import json_text
from openworld.runs.atomic import write_file

FILE = "audit.json"
IN_WORDS = 3  # errors and warnings that a terminal shows; the others are counted
WORST = 6  # findings of a data set that the page shows unfolded


def audits_text(audits: Sequence[Audit]) -> str:
    """Audits as the text of FILE."""
    return json_text({"audits": [audit.to_dict() for audit in audits]})


def read_audits(folder: Path | str) -> tuple[Audit, ...]:
    """The audits of the run in a folder; none where none were made.

    Raises:
        OpenworldError: a file that holds something else.
    """
    path = Path(folder) / FILE
    if not path.is_file():
        return ()
    try:
        return tuple(Audit.from_dict(audit) for audit in parse_json(path.read_bytes())["audits"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise OpenworldError(f"{path} is damaged ({error}). Delete it; the next start writes it again.") from error


def names_sentences(audits: Sequence[Audit]) -> list[str]:
    """Return what a page says of all audits before their findings."""
    clean = "; ".join(f"{audit.dataset} ({audit.classes})" for audit in audits if not audit.findings)
    return [headline(audits), *([f"Nothing was found among the class names of {clean}."] if clean else [])]


def headline(audits: Sequence[Audit]) -> str:
    """All audits in a sentence.

    >>> from openworld.datasets.names.findings import Finding
    >>> headline([Audit("pets", 37, (Finding("misspelling", "note", ("cat", "cab"), "Is it?"),))])
    'Checked before the run began: 37 class names, 1 note.'
    """
    total = sum(audit.classes for audit in audits)
    return f"Checked before the run began: {total} class names, {counted(audits) or 'nothing found'}."


def counted(audits: Sequence[Audit], severities: Sequence[str] = SEVERITIES) -> str:
    """How many findings of each severity, in words; "" where there is none.

    >>> counted([Audit("pets", 37)])
    ''
    """
    counts = {severity: sum(audit.counts[severity] for audit in audits) for severity in severities}
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
