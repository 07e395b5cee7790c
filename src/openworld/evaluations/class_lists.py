"""Which class names play in a run, and which of them meet: what its audit looks at, before any number."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from openworld.datasets import base_new_split, require_places
from openworld.datasets.names.forms import normalise_class_name
from openworld.evaluations import module_of
from openworld.evaluations.dynamic.task import OF_CLASSES
from openworld.evaluations.generalisation.task import left_out_of
from openworld.evaluations.image_selection import DatasetSpec
from openworld.evaluations.recognition_by_shift.task import names_of


@dataclass(frozen=True)
class Cast:
    """The names of one data set as a run meets them.

    Args:
        title: what people call it, data set and domain.
        dataset: by which its sentence is known.
        names: in label order, without those that the run leaves out.
        base_count: how many of the first are base classes, in every unit alike; the others are new, or may be.
        against: names of other data sets that meet these, by data set.
    """

    title: str
    dataset: str
    names: tuple[str, ...]
    base_count: int
    against: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def require_data(spec) -> None:
    """Refuse to begin a run while a folder or list of a data set to download is missing, and name all that are.

    Raises:
        OpenworldError: what is missing, and the command that says where to get it.
    """
    require_places(one.dataset for one in _found(_ENTRIES, "data_of", spec))


def readers(spec) -> tuple[str, ...]:
    """The backbones that read the names; none where a run does without."""
    if spec.protocol == "accuracy-estimation":
        return tuple(dict.fromkeys(one.backbone for one in spec.references if one.backbone))
    if spec.protocol == "incremental-shift":
        split = (spec.decomposition.backbone,) if spec.pool else ()
        return tuple(dict.fromkeys([*split, *(one.backbone for one in spec.models if one.backbone)]))
    if spec.protocol == "open-world-by-shift":
        references = [one.backbone for one in spec.references if one.backbone] if spec.estimators else []
        return tuple(dict.fromkeys([spec.backbone, spec.decomposition.backbone, *references]))
    return (spec.backbone,) if hasattr(spec, "backbone") else ()


def casts(spec) -> tuple[Cast, ...]:
    """The names of every data set of a run, each list of names once.

    Args:
        spec: of a protocol; its test pictures' lists are read, no picture is.
    """
    found: dict[tuple, Cast] = {}
    for cast in _found(_CASTS, "class_lists", spec):
        met = tuple(sorted(cast.against))
        found.setdefault((cast.names, cast.base_count, met), cast)
    return tuple(found.values())


def _found(table: Mapping, name: str, spec) -> Iterable:
    """What a table's function finds in a spec; of a plug-in evaluation, what its own function of that name does."""
    function = table.get(spec.protocol) or getattr(module_of(spec), name, None)
    return function(spec) if function else ()


def _of_recognition(spec) -> Iterator[Cast]:
    names = _names(spec.dataset, spec.test_domain)
    yield Cast(_title(spec.dataset, spec.test_domain), spec.dataset, names, _half(names))


def _of_generalisation(spec) -> Iterator[Cast]:
    source = _names_of(spec.source)
    yield Cast(str(spec.source), spec.source.dataset, source, _half(source))
    yield from _variants(spec, source)
    base = source[: _half(source)]
    for other in spec.others:
        names = _names_of(other)
        left_out = {one.name for one in left_out_of(spec.source, other, spec.wordnet)}
        kept = tuple(name for name in names if name not in left_out)
        yield from _meeting(other, kept, {str(spec.source): base})


def _of_dynamic(spec) -> Iterator[Cast]:
    """Every seed cuts the classes of `datasets` anew, so that no name there is base for good."""
    played = _played(spec)
    for one in played.datasets:
        yield Cast(str(one), one.dataset, _names_of(one), 0)
    for one in played.source:
        source = _names_of(one)
        yield Cast(str(one), one.dataset, source, len(source))
        yield from _variants(played, source)
        for other in played.others:
            names = _names_of(other)
            taken_over = {
                normalise_class_name(name) for name in names
            }  # the source's class of the same name is left out there
            theirs = tuple(name for name in source if normalise_class_name(name) not in taken_over)
            yield from _meeting(other, names, {str(one): theirs})


@dataclass(frozen=True)
class _Played:
    """The entries of a dynamic spec that its scenarios play with; `source` holds one or none."""

    datasets: tuple
    source: tuple
    variants: tuple
    others: tuple


def _played(spec) -> _Played:
    scenarios = set(spec.scenarios)
    variants = spec.variants if "distribution-shift" in scenarios else ()
    others = spec.others if "co-evolution" in scenarios else ()
    datasets = spec.datasets if scenarios & set(OF_CLASSES) else ()
    return _Played(datasets, (spec.source,) if variants or others else (), variants, others)


def _entries_of_dynamic(spec) -> tuple:
    played = _played(spec)
    return (*played.datasets, *played.source, *played.variants, *played.others)


def _of_estimation(spec) -> Iterator[Cast]:
    names = spec.ground.names_of.load().classnames
    yield Cast(str(spec.sources[0]), spec.sources[0].dataset, names, len(names))


def _of_shift(spec) -> Iterator[Cast]:
    names = spec.ground.names
    yield Cast(str(spec.sources[0]), spec.sources[0].dataset, names, len(names))


def _of_open_world_shift(spec) -> Iterator[Cast]:
    names = names_of(spec.ground)
    yield Cast(f"{spec.sources[0]} and the pool", spec.sources[0].dataset, names.every, len(names.base))


def _of_decomposed(spec) -> Iterator[Cast]:
    names = spec.ground.names_of.load().classnames
    yield Cast(_title(spec.sets[0].dataset, spec.sets[0].domain), spec.sets[0].dataset, names, len(names))


_CASTS = {
    "recognition": _of_recognition,
    "dynamic": _of_dynamic,
    "generalisation": _of_generalisation,
    "accuracy-estimation": _of_estimation,
    "incremental-shift": _of_shift,
    "open-world-by-shift": _of_open_world_shift,
    "decomposed-zero-shot": _of_decomposed,
}
"""Protocol -> its casts."""

_ENTRIES = {
    "recognition": lambda spec: (spec,),
    "dynamic": _entries_of_dynamic,
    "generalisation": lambda spec: (spec.source, *spec.variants, *spec.others),
    "accuracy-estimation": lambda spec: (*spec.sources, *spec.targets),
    "incremental-shift": lambda spec: (*spec.sources, *spec.pool),
    "open-world-by-shift": lambda spec: (*spec.sources, *spec.pool),
    "decomposed-zero-shot": lambda spec: (*spec.sets, *map(DatasetSpec, spec.names)),
}
"""Protocol -> everything in a spec that names a data set."""


def _variants(spec, source: tuple[str, ...]) -> Iterator[Cast]:
    """Variants with names of their own; most show some of the source's classes under the same names."""
    for one in spec.variants:
        names = _names_of(one)
        if not set(names) <= set(source):
            yield Cast(str(one), one.dataset, names, len(set(names) & set(source[: _half(source)])))


def _meeting(other, names: tuple[str, ...], against: Mapping[str, tuple[str, ...]]) -> Iterator[Cast]:
    if names:
        yield Cast(str(other), other.dataset, names, 0, {title: theirs for title, theirs in against.items() if theirs})


def _names_of(one) -> tuple[str, ...]:
    return _names(one.dataset, one.domain)


def _names(dataset: str, domain: str | None) -> tuple[str, ...]:
    return DatasetSpec(dataset, domain).classnames


def _half(names: tuple[str, ...]) -> int:
    return len(base_new_split(len(names))[0])


def _title(dataset: str, domain: str | None) -> str:
    return f"{dataset}, {domain}" if domain else dataset
