"""The audit of a run's class names, made before it began: kept in its folder, told on the page and on the terminal.

The audit is no part of a record: it says what to think of a number and changes none, and how much of it could be done
depends on the machine (WordNet is not installed everywhere).
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import parse_json
from openworld.datasets.names.audit import Audit, count_in_words
from openworld.report.data_files import json_text
from openworld.runs import read_spec, to_json
from openworld.runs.atomic import write_file

FILE = "audit.json"
IN_WORDS = 3  # errors and warnings that a terminal shows; the others are counted
WORST = 6  # findings of a data set that the page shows unfolded


def read_audits(folder: Path | str) -> tuple[Audit, ...]:
    """The audits of the run in a folder; none where none were made."""
    path = Path(folder) / FILE
    try:
        saved = parse_json(path.read_bytes()) if path.is_file() else {"audits": ()}
        return tuple(read_spec(audit, Audit) for audit in saved["audits"])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise OpenworldError(f"{path} is damaged ({error}). Delete it; the next start writes it again.") from error


def names_sentences(audits: Sequence[Audit]) -> list[str]:
    """Return what a page says of all audits before their findings."""
    total, clean = sum(audit.classes for audit in audits), [audit for audit in audits if not audit.findings]
    sentences = [f"Checked before the run began: {total} class names, {count_in_words(audits) or 'nothing found'}."]
    if clean:
        names = "; ".join(f"{audit.dataset} ({audit.classes})" for audit in clean)
        sentences.append(f"Nothing was found among the class names of {names}.")
    return sentences


def tell_audits(audits: Sequence[Audit], folder: Path | None, say: Callable[[str], None]) -> None:
    """Write the whole audit into a folder, and say the worst: nothing without error or warning."""
    if folder is not None:
        data, path = json_text({"audits": to_json(audits)}).encode(), folder / FILE
        if not path.is_file() or path.read_bytes() != data:
            write_file(path, data)
    findings = [finding for audit in audits for finding in audit.findings]
    grave = [finding for severity in ("error", "warning") for finding in findings if finding.severity == severity]
    if not grave:
        return
    worst = f", the first {IN_WORDS} here" if len(grave) > IN_WORDS else ""
    where = "" if folder is None else f" (the whole audit: {folder / FILE})"
    say(f"class names: {count_in_words(audits, ('error', 'warning'))}{worst}{where}")
    for finding in grave[:IN_WORDS]:
        say(f"  {finding.severity}: {finding.sentence}")
