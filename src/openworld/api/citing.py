"""What a paper should cite: BibTeX of methods, and of everything that a run used."""

from collections.abc import Iterable, Iterator
from importlib import import_module

from openworld.api.arguments import Report, Run
from openworld.api.finished_runs import as_run
from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.plugins import Plugins
from openworld.core.types import checked

PLUGGED = ("learners", "detectors", "estimators", "evaluations")
"""Kinds of which other packages may bring some."""


@checked
def cite(*runs: Run) -> str:
    """Give BibTeX of everything that runs used: evaluations, methods, models, data sets, openworld; each once.

    ```
    openworld cite runs/demo runs/shots > references.bib
    ```

    What has no entry, such as a data set of your own, is named in a comment. Entries of methods that you name:
    `openworld list --cite CoOp MSP`.

    Args:
        runs: finished runs, or their folders.

    >>> import openworld as ow
    >>> run = ow.score({"side": ["base", "base", "new"], "score": [0.9, 0.8, 0.4], "correct": [1, 1, 1]})
    >>> print(ow.cite(run).splitlines()[0])
    @inproceedings{hua2025openworldauc,
    """
    return bibliography([pair for run in map(as_run, runs) for pair in _used(run)], ["openworld"])


def _used(run: "Report") -> Iterator[tuple[str, str]]:
    """The (kind, name) of everything in a run, its evaluation first."""
    from openworld.papers.bibliography import names_used

    yield "evaluations", run.records.evaluation or "recognition"
    yield from names_used(run.spec)


def cite_methods(names: Iterable[str]) -> str:
    """Return BibTeX of methods, models and data sets by name, or of kinds such as "learners"; of all for no name."""
    from openworld.papers.bibliography import methods

    return bibliography([pair for name in names or methods() for pair in _named(name)])


def bibliography(used: Iterable[tuple[str, str]], further: Iterable[str] = ()) -> str:
    """Return the entries of (kind, name), each once, then `further`, what plug-ins bring, and comments."""
    from openworld.papers.bibliography import bibtex, keys_of

    keys, others = [], []
    for kind, name in used:
        entry_keys = keys_of(kind, name)
        if entry_keys is None:
            others.append(_of_others(kind, name))
        else:
            keys += entry_keys
    last = tuple(further)
    return "\n".join(filter(None, [bibtex([*(key for key in keys if key not in last), *last]), *dict.fromkeys(others)]))


def _named(name: str) -> Iterator[tuple[str, str]]:
    """The (kind, name) of a kind, or of everything of one name."""
    from openworld.papers.bibliography import methods

    if name in methods():
        yield from ((name, own) for own in (*methods()[name], *_offered(name)))
        return
    kinds = [kind for kind, names in methods().items() if name in names or name in _offered(kind)]
    if not kinds:
        every = [own for kind, names in methods().items() for own in (kind, *names)]
        raise unknown_name("method, model or data set", name, every)
    yield from ((kind, name) for kind in kinds)


def _plugins(kind: str) -> Plugins:
    return import_module(f"openworld.{kind}").PLUGINS


def _offered(kind: str) -> Iterable[str]:
    """The names of the plug-ins of a kind."""
    return _plugins(kind).offered() if kind in PLUGGED else ()


def _of_others(kind: str, name: str) -> str:
    """The attribute `bibtex` of a plug-in; else a comment."""
    entry = ""
    if name in _offered(kind):
        try:
            entry = getattr(_plugins(kind).find(name), "bibtex", "")
        except OpenworldError as error:
            entry = f"% {' '.join(str(error).split())}"
    return f"{entry or f'% No entry is known of {name!r} ({kind}).'}\n"
