"""The audit of a run's class names: made before anything is encoded, summed up on screen, kept whole in its folder.

It warns and never stops a run. Two classes of exactly one name are refused by the data set itself; what remains, such
as names that a tokenizer reads alike, costs accuracy, and published numbers were measured with such names.
"""

from collections.abc import Callable
from pathlib import Path

from openworld.datasets.names.audit import audit
from openworld.datasets.names.wordnet import find_wordnet
from openworld.datasets.templates import PHOTO, TEMPLATES
from openworld.evaluations import evaluation_of
from openworld.evaluations.class_lists import class_lists
from openworld.evaluations.runtime import backbone
from openworld.report.class_names import tell_audits


def audit_names(spec, device: str, folder: Path, say: Callable[[str], None]) -> None:
    """Audit the names of every data set of a run, write audit.json into its folder, and say the worst."""
    tokenizers = [backbone(name, device).tokenizer for name in tuple(evaluation_of(spec).backbones(spec))[:1]]
    shared = {"wordnet": find_wordnet(), "tokenizer": tokenizers[0] if tokenizers else None}
    audits = [
        audit(
            names.names,
            names.title,
            base_count=names.base_count,
            against=names.against,
            by_order=names.by_order,
            template=TEMPLATES.get(names.dataset, PHOTO),
            **shared,
        )
        for names in class_lists(spec)
    ]
    tell_audits(audits, folder, say)
