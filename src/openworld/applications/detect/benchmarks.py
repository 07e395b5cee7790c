"""Sets of OpenOOD's benchmarks by the words that name them: a whole benchmark, one of its groups, or one set."""

import re
from dataclasses import dataclass

from openworld._errors import OpenworldError, unknown_name
from openworld.datasets.published.openood import BENCHMARKS, PREFIX

USUAL = ("near", "far")
"""Groups that a benchmark stands for."""

GROUPS_BY_NAME = (*USUAL, "full-spectrum")
_OF_IMAGENET = "openood:imagenet"


@dataclass(frozen=True)
class KnownSet:
    """A set of a benchmark.

    Args:
        benchmark, name: keys of `BENCHMARKS` and of its sets.
    """

    benchmark: str
    name: str

    @property
    def title(self) -> str:
        """Its name in papers."""
        return BENCHMARKS[self.benchmark].sets[self.name].title

    @property
    def group(self) -> str:
        """Which group it is in."""
        return BENCHMARKS[self.benchmark].sets[self.name].group


def known_sets(word: str, home: str = "") -> tuple[KnownSet, ...]:
    """Return the sets that a word names; () where it names none.

    Args:
        word: "openood:BENCHMARK" for its near and far sets; "openood:BENCHMARK/GROUP"; "openood:BENCHMARK/SET"; or a
            set alone, of the benchmark at `home`, or of ImageNet. Case, "-" and "_" make no difference in a set's name.
        home: the benchmark whose images are in distribution; "" for none.

    Raises:
        OpenworldError: an unknown benchmark or set of it, a set alone that several benchmarks have.

    >>> [own.title for own in known_sets("openood:imagenet/near")], known_sets("ssb-hard")[0].group
    (['SSB-hard', 'NINCO'], 'near')
    """
    if word.startswith(PREFIX):
        return _of_benchmark(*word.partition("/")[::2])
    having = [(own, name) for own in BENCHMARKS if (name := _named(own, word))]
    chosen = [pair for pair in having if pair[0] == home] or [pair for pair in having if pair[0] == _OF_IMAGENET]
    if having and not chosen:
        forms = " or ".join("/".join(pair) for pair in having)
        raise OpenworldError(f"several benchmarks have a set {word}; say which is meant: {forms}.")
    return tuple(KnownSet(*pair) for pair in chosen[:1])


def benchmark_of(where: object) -> str:
    """Return the benchmark whose in-distribution images somebody names; "" for anything else."""
    return where if isinstance(where, str) and where in BENCHMARKS else ""


def _of_benchmark(name: str, rest: str) -> tuple[KnownSet, ...]:
    if name not in BENCHMARKS:
        raise unknown_name("benchmark", name, BENCHMARKS)
    benchmark = BENCHMARKS[name]
    if rest in ("", *GROUPS_BY_NAME):
        groups = (rest,) if rest else USUAL
        return tuple(KnownSet(name, own) for group in groups for own in benchmark.of_group(group))
    own = _named(name, rest)
    if not own:
        tested = [key for key, card in benchmark.sets.items() if card.group in GROUPS_BY_NAME]
        raise unknown_name(f"set or group of {name} to test on", rest, (*GROUPS_BY_NAME, *tested))
    return (KnownSet(name, own),)


def _named(benchmark: str, word: str) -> str:
    """The set of a benchmark that a word names; "" for none. What settings are chosen on is not tested."""
    sets = {name: own for name, own in BENCHMARKS[benchmark].sets.items() if own.group in GROUPS_BY_NAME}
    plain = _plain(word)
    return next((name for name, own in sets.items() if plain in (_plain(name), _plain(own.title))), "")


def _plain(name: str) -> str:
    return re.sub(r"[-_\s]", "", name.casefold())
