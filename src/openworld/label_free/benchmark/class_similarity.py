"""How near classes are in meaning, for the Semantic Alignment Score: by WordNet, BREEDS, or Unicode's tree of emoji."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from openworld.datasets import DATASETS, PUBLISHED, SHIFTED, emoji
from openworld.datasets.cards import is_folder
from openworld.datasets.names.class_names import class_names
from openworld.datasets.names.taxonomy import read_edges, taxonomy_similarity, wordnet_similarity
from openworld.datasets.names.wordnet import SYNSET_ID, find_wordnet
from openworld.datasets.published import breeds
from openworld.datasets.published.catalogue import find_root
from openworld.datasets.published.imagenet_variants import read_ids

EMOJI = "emoji-"
NAMED_LIKE = {"imagenet-200": "imagenet-r"}
"""A data set -> the published one whose classes it has, in the same order."""


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """Similarity float64[C, C] of classes, and whose tree it is; None with the reason where there is none."""

    similarity: np.ndarray | None
    name: str | None = None
    reason: str | None = None


@lru_cache(maxsize=4)
def taxonomy_of(dataset: str) -> Taxonomy:
    """Return the taxonomy of a data set's classes."""
    if dataset.startswith(EMOJI):
        return Taxonomy(_of_emoji(dataset.removeprefix(EMOJI)), "Unicode's groups and subgroups of emoji")
    if dataset in breeds.TASKS:
        folder = find_root(None) / SHIFTED[dataset].folder
        above, hierarchy = read_edges(folder / "class_hierarchy.txt"), breeds.Hierarchy(folder)
        nodes = [superclass.node for superclass in breeds.superclasses(breeds.TASKS[dataset], hierarchy)]
        similarity = taxonomy_similarity(nodes, lambda node: above.get(node, ()))
        return Taxonomy(similarity, "the hierarchy of BREEDS")
    ids = _wordnet_ids(NAMED_LIKE.get(dataset, dataset))
    if not ids:
        return Taxonomy(None, reason=f"the classes of {dataset} stand in no taxonomy that is known here")
    nouns = find_wordnet()
    if nouns is None:
        return Taxonomy(None, reason="WordNet 3.0 was not found: install Debian's wordnet-base, or set WNSEARCHDIR")
    return Taxonomy(wordnet_similarity(ids, nouns), "WordNet 3.0")


def _wordnet_ids(dataset: str) -> tuple[str, ...]:
    """Return ids of its classes: as published, or the names of folders that are called by them, as ImageNet's are."""
    if dataset in PUBLISHED:
        return class_names(dataset).wordnet_ids
    if dataset == "tiny-imagenet":
        return read_ids(SHIFTED[dataset].folder_in(find_root(None)))
    if dataset in DATASETS or not is_folder(dataset):
        return ()
    names = class_names(dataset).names
    return names if all(map(SYNSET_ID.fullmatch, names)) else ()


def _of_emoji(task: str) -> np.ndarray:
    """Return similarities with a concept under its subgroup, a subgroup under its group, and all under one root."""
    nodes, above = [], {}
    for number, concepts in enumerate(emoji.TASKS[task].classes().values()):
        groups, subgroups = ({getattr(concept, level) for concept in concepts} for level in ("group", "subgroup"))
        within = [*subgroups] if len(concepts) == 1 else []
        within += [*groups] if len(subgroups) == 1 else []
        way = (("class", number), *((*groups, level) for level in within), "emoji")
        above |= {node: (parent,) for node, parent in pairwise(way)}
        nodes.append(way[0])
    return taxonomy_similarity(nodes, lambda node: above.get(node, ()))
