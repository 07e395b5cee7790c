"""The audit of a run's class names: made before anything is encoded, told in a few lines, kept whole in its folder.

It warns and never stops a run. Two classes of exactly one name are refused by the data set itself; what remains, such
as names that a tokenizer reads alike, costs accuracy, and published numbers were measured with such names.
"""

from collections.abc import Sequence
from pathlib import Path

TOLD = 3
"""Errors and warnings that are told in words; the others are counted."""


def audit_names(spec, manner, out) -> None:
    """Look at the names of every data set of a run, write audit.json, say the worst."""
    from openworld.datasets.names.audit import audit
    from openworld.datasets.names.wordnet import find_wordnet
    from openworld.datasets.templates import PHOTO, TEMPLATES
    from openworld.evaluations import evaluation_of
    from openworld.evaluations.class_lists import class_lists
    from openworld.evaluations.runtime import backbone

    tokenizers = [
        backbone(name, manner.devices[0]).tokenizer for name in tuple(evaluation_of(spec).backbones(spec))[:1]
    ]
    shared = {"wordnet": find_wordnet(), "tokenizer": tokenizers[0] if tokenizers else None}
    audits = [
        audit(
            one.names,
            one.title,
            base_count=one.base_count,
            against=one.against,
            template=TEMPLATES.get(one.dataset, PHOTO),
            **shared,
        )
        for one in class_lists(spec)
    ]
    keep(audits, manner.folder)
    for line in lines(audits, manner.folder):
        out.print(line, markup=False)


def lines(audits: Sequence, folder: Path | None) -> list[str]:
    """What is said of the audits on screen, nothing without error or warning; `folder` keeps the whole, or None."""
    from openworld.report.class_names import FILE, counted

    grave = [one for audit in audits for one in audit.findings if one.severity != "note"]
    grave.sort(key=lambda one: one.severity != "error")
    if not grave:
        return []
    worst = f", the first {TOLD} here" if len(grave) > TOLD else ""
    told = [f"  {one.severity}: {one.sentence}" for one in grave[:TOLD]]
    count = counted(audits, ("error", "warning"))
    where = "" if folder is None else f" (the whole audit: {folder / FILE})"
    return [f"class names: {count}{worst}{where}", *told]


def keep(audits: Sequence, folder: Path) -> None:
    from openworld.report.class_names import FILE, audits_text
    from openworld.runs.atomic import write_file

    data = audits_text(audits).encode()
    path = folder / FILE
    if not path.is_file() or path.read_bytes() != data:
        write_file(path, data)
