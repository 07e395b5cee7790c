"""How near two classes stand in a taxonomy: path and Wu-Palmer similarity over WordNet, or over any list of edges.

path = 1 / (1 + d), with d the fewest edges between the two (Rada et al., 1989; as WordNet's tools count); wup =
2 depth / (d1 + d2 + 2 depth), with `depth` of their deepest common ancestor, the root at 1, and d1, d2 the edges up to
it (Wu and Palmer, 1994). A class with several ways up takes its shortest; the depth of an ancestor is that of its
longest way from the root. "Bridging Domain Expertise and Generalization for Performance Estimation" (FRAP), section
5.3, combines both; its equation 3 did not survive in print, so their mean is used here.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import read_text
from openworld.datasets.names.wordnet import WordNet, find_wordnet, meaning_of

Parents = Callable[[Any], Iterable[Hashable]]


def wordnet_similarity(ids: Sequence[str], nouns: WordNet | None = None) -> np.ndarray:
    """Similarity of classes with WordNet ids, such as ImageNet's: float64[C, C] in (0, 1], 1 on the diagonal."""
    nouns = nouns or find_wordnet()
    if nouns is None:
        raise OpenworldError("WordNet 3.0 is not installed; install Debian's wordnet-base, or set WNSEARCHDIR.")
    return taxonomy_similarity([meaning_of(one) for one in ids], nouns.hypernyms)


def taxonomy_similarity(classes: Sequence[Hashable], parents: Parents) -> np.ndarray:
    """Similarity of C nodes of a taxonomy with one root: float64[C, C] in (0, 1]; `parents`: the nodes right above."""
    path, wup = path_and_wup(classes, parents)
    return (path + wup) / 2


def path_and_wup(classes: Sequence[Hashable], parents: Parents) -> tuple[np.ndarray, np.ndarray]:
    """Path and Wu-Palmer similarity, float64[C, C] each."""
    above = []  # of each class, it and all above it, with the fewest steps to each: level by level
    for node in classes:
        distances, level, distance = {}, {node}, 0
        while level:
            distances |= dict.fromkeys(level, distance)
            level, distance = {up for one in level for up in parents(one)} - distances.keys(), distance + 1
        above.append(distances)
    ancestors = sorted(set().union(*above), key=str)
    column = {node: number for number, node in enumerate(ancestors)}
    steps = np.full((len(classes), len(ancestors)), np.inf)  # inf where a node is no ancestor
    for row, distances in zip(steps, above, strict=True):
        row[[column[node] for node in distances]] = list(distances.values())
    depth_of: dict[Hashable, int] = {}
    depths = np.array([_depth(node, parents, depth_of, ()) for node in ancestors])

    path, wup = np.empty((2, len(classes), len(classes)))
    for number, way in enumerate(steps):
        own = np.flatnonzero(np.isfinite(way))
        both = steps[:, own] + way[own]
        shared = np.isfinite(both)
        unrelated = np.flatnonzero(~shared.any(axis=1))
        if unrelated.size:
            one, other = classes[number], classes[unrelated[0]]
            raise OpenworldError(f"{one!r} and {other!r} have no common ancestor; give them one root.")
        # Wu and Palmer's ancestor is the deepest in common; of several as deep, the nearest counts.
        deepest = np.where(shared, depths[own], 0).max(axis=1)
        nearest = np.where(shared & (depths[own] == deepest[:, None]), both, np.inf).min(axis=1)
        path[number], wup[number] = 1 / (1 + both.min(axis=1)), 2 * deepest / (nearest + 2 * deepest)
    return path, wup


def _depth(node, parents: Parents, known: dict[Hashable, int], below: tuple) -> int:
    if node in below:
        raise OpenworldError(f"{node!r} is its own ancestor; a taxonomy has no circles.")
    if node not in known:
        known[node] = 1 + max((_depth(up, parents, known, (*below, node)) for up in parents(node)), default=0)
    return known[node]


def read_edges(file: Path | str) -> dict[str, tuple[str, ...]]:
    """Parents of every node, from lines "parent child" such as BREEDS' class_hierarchy.txt."""
    parents: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(read_text(Path(file)).splitlines(), start=1):
        words = line.split()
        if len(words) not in (0, 2):
            raise OpenworldError(f"{file}, line {number}: {line!r} is no edge; expected parent and child.")
        if words:
            parents[words[1]] = (*parents.get(words[1], ()), words[0])
    return parents
