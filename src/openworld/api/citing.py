"""What a paper should cite: BibTeX of methods, and of everything that a run used."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from openworld._errors import OpenworldError, unknown_name
from openworld._plugins import Plugins
from openworld.api.finished_run import Run, as_run
from openworld.papers.bibliography import bibtex, keys_of, methods, names_used


def cite(run: Run | Path | str) -> str:
    """Return BibTeX of all that a run used: its evaluation, methods, models and data sets, and openworld.

    What has no entry, such as a data set of your own, is named in a comment.

    Args:
        run: a finished run, or its folder.

    >>> import openworld as ow
    >>> run = ow.score({"side": ["base", "base", "new"], "score": [0.9, 0.8, 0.4], "correct": [1, 1, 1]})
    >>> print(ow.cite(run).splitlines()[0])
    @inproceedings{hua2025openworldauc,
    """
    from openworld.evaluations import FORMER_NAMES

    run = as_run(run)
    name = run.story.run.evaluation or "recognition"
    used = [("evaluations", FORMER_NAMES.get(name, name)), *names_used(run.spec)]
    return bibliography(used, ["openworld"])


def cite_methods(names: Iterable[str]) -> str:
    """Return BibTeX of methods, models and data sets by name, or of whole kinds such as "learners"; of all for no name.

    Raises:
        OpenworldError: an unknown name.
    """
    return bibliography([pair for name in names or methods() for pair in _named(name)])


def bibliography(used: Iterable[tuple[str, str]], further: Iterable[str] = ()) -> str:
    """Return the entries of (kind, name), each once; then what plug-ins bring, and what has no entry, as comments."""
    keys, others = [], []
    for kind, name in used:
        own = keys_of(kind, name)
        if own is None:
            others.append(_of_others(kind, name))
        else:
            keys += own
    return "\n".join(filter(None, [bibtex([*keys, *further]), *dict.fromkeys(others)]))


def _named(name: str) -> Iterator[tuple[str, str]]:
    """The (kind, name) of a kind, or of everything of one name."""
    if name in methods():
        yield from ((name, own) for own in (*methods()[name], *_offered(name)))
        return
    found = [kind for kind, names in methods().items() if name in names or name in _offered(kind)]
    if not found:
        known = [own for kind, names in methods().items() for own in (kind, *names)]
        raise unknown_name("method, model or data set", name, known)
    yield from ((kind, name) for kind in found)


def _plugins(kind: str) -> Plugins | None:
    if kind == "learners":
        from openworld.learners import PLUGINS
    elif kind == "detectors":
        from openworld.detectors import PLUGINS
    elif kind == "estimators":
        from openworld.estimators import PLUGINS
    elif kind == "evaluations":
        from openworld.evaluations import PLUGINS
    else:
        return None
    return PLUGINS


def _offered(kind: str) -> Iterable[str]:
    """The names of the plug-ins of a kind."""
    plugins = _plugins(kind)
    return () if plugins is None else plugins.offered()


def _of_others(kind: str, name: str) -> str:
    """The attribute `bibtex` of a plug-in; else a comment."""
    own = ""
    if name in _offered(kind):
        try:
            own = getattr(_plugins(kind).find(name), "bibtex", "")
        except OpenworldError as error:
            own = f"% {' '.join(str(error).split())}"
    return f"{own or f'% No entry is known of {name!r} ({kind}).'}\n"
