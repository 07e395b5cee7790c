"""Which class names play in a run, and which of them meet; and their audit, before anything is encoded.

The audit warns and never stops a run. Two classes of exactly one name are refused by the data set itself; what remains,
such as names that a tokenizer reads alike, costs accuracy, and published numbers were measured with such names.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from openworld.datasets import require_places
from openworld.evaluations import evaluation_of
from openworld.evaluations.evaluation import ClassList
from openworld.evaluations.image_selection import DatasetSpec


def require_data(spec) -> None:
    """Refuse to begin a run while a folder or list of a data set to download is missing, and name all that are."""
    require_places(entry.dataset for entry in evaluation_of(spec).data(spec))


def class_lists(spec) -> tuple[ClassList, ...]:
    lists: dict[tuple, ClassList] = {}
    for class_list in evaluation_of(spec).class_lists(spec):
        met = tuple(sorted(class_list.against))
        lists.setdefault((class_list.names, class_list.base_count, met), class_list)
    return tuple(lists.values())


def variants(entries: Iterable[DatasetSpec], source: DatasetSpec) -> Iterator[ClassList]:
    """Return the lists of variants with names of their own; most show some of the source's under the same names."""
    for variant in entries:
        names = tuple(name for name in variant.classnames if name not in source.left_out)
        if not set(names) <= set(source.classnames):
            base = set(names) & set(source.split.base_names)
            yield ClassList(str(variant), variant.dataset, names, len(base))


def meeting(other: DatasetSpec, names: tuple[str, ...], against: Mapping[str, tuple[str, ...]]) -> Iterator[ClassList]:
    """Return the list of another data set whose names meet the source's, where any are left."""
    if names:
        met = {title: theirs for title, theirs in against.items() if theirs}
        yield ClassList(str(other), other.dataset, names, 0, met)


def audit_names(spec, device: str, folder: Path, say: Callable[[str], None]) -> None:
    """Audit the names of every data set of a run, write audit.json into its folder, and say the worst."""
    from openworld.datasets.names.audit import audit
    from openworld.datasets.names.wordnet import find_wordnet
    from openworld.datasets.templates import PHOTO, TEMPLATES
    from openworld.evaluations.runtime import backbone
    from openworld.report.class_names import tell_audits

    tokenizers = [backbone(name, device).tokenizer for name in tuple(evaluation_of(spec).backbones(spec))[:1]]
    shared: dict[str, Any] = {"wordnet": find_wordnet(), "tokenizer": tokenizers[0] if tokenizers else None}
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
