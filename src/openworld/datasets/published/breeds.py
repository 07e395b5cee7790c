"""BREEDS: ImageNet's classes under fewer names, with subclasses that training never shows (Santurkar et al., 2020).

Every superclass is a node of a mended WordNet hierarchy; half of the subclasses below it are the source, the other
half the target. The folder holds the three files of MadryLab/BREEDS-Benchmarks @ 3dd8d35: class_hierarchy.txt,
node_names.txt and dataset_class_info.json; the images are ImageNet's. Splits are those of MadryLab/robustness @
0dad37c with split="good", which puts similar subclasses on both sides; nothing in them is random.
"""

from dataclasses import dataclass
from pathlib import Path

from openworld.core.errors import OpenworldError
from openworld.core.plain_files import read_json, reading
from openworld.datasets.formats.files import read_lines
from openworld.datasets.names.taxonomy import read_edges

ROOT = "n00001740"
_DEEPEST = 100


@dataclass(frozen=True)
class BreedsTask:
    """How superclasses are chosen: nodes at a level below a node, with so many subclasses each, half of them source."""

    level: int
    subclasses: int
    below: str = ROOT


TASKS = {
    "entity13": BreedsTask(level=3, subclasses=20),
    "entity30": BreedsTask(level=4, subclasses=8),
    "living17": BreedsTask(level=5, subclasses=4, below="n00004258"),
    "nonliving26": BreedsTask(level=5, subclasses=4, below="n00021939"),
}


@dataclass(frozen=True)
class Superclass:
    """A superclass: its node, its name, and the WordNet ids of its source and target subclasses."""

    node: str
    name: str
    source: tuple[str, ...]
    target: tuple[str, ...]


class Hierarchy:
    """The mended hierarchy above ImageNet's classes, of a folder with the three files."""

    def __init__(self, folder: Path):
        if not (folder / "class_hierarchy.txt").is_file():
            raise OpenworldError(f"there is no file {folder / 'class_hierarchy.txt'}.")
        info = folder / "dataset_class_info.json"
        with reading(info, "a list of [number, WordNet id, name]", ValueError, TypeError):
            entries = read_json(info)
            self.classes = frozenset(str(wordnet_id) for _, wordnet_id, _ in entries)
        self.names = dict(line.split("\t", 1) for line in read_lines(folder / "node_names.txt") if "\t" in line)
        parents = read_edges(folder / "class_hierarchy.txt")
        self._children: dict[str, set[str]] = {}  # of all nodes above classes
        level = self.classes
        while level:
            above = {parent for node in level for parent in parents.get(node, ())} - self._children.keys()
            for node in level:
                for parent in parents.get(node, ()):
                    self._children.setdefault(parent, set()).add(node)
            level = above
        self._levels: dict[str, int] = {}
        self._set_levels(ROOT, 0)

    def children(self, node: str) -> list[str]:
        """Nodes right below, in the order of their ids; only those with classes of ImageNet under them, or that are."""
        return sorted(self._children.get(node, ()))

    def leaves(self, node: str) -> list[str]:
        """Classes at or below a node, in the order of their ids; nothing below a class counts."""
        leaves_below, level = {node} & self.classes, {node}
        while level:
            below = {child for one in level for child in self.children(one)}
            leaves_below |= below & self.classes
            level = below - self.classes
        return sorted(leaves_below)

    def at_level(self, level: int, below: str) -> list[str]:
        """Nodes whose longest way from the root has `level` edges, at or below a node, in the order of their ids."""
        reached, fresh = {below}, {below}
        while fresh:
            fresh = {child for one in fresh for child in self.children(one)} - reached
            reached |= fresh
        return sorted(node for node in reached if self._levels.get(node) == level)

    def _set_levels(self, node: str, level: int) -> None:
        if level > _DEEPEST:
            raise OpenworldError(f"{node} is its own ancestor in class_hierarchy.txt; get it again.")
        if level > self._levels.get(node, -1):
            self._levels[node] = level
            for child in self.children(node):
                self._set_levels(child, level + 1)


def superclasses(task: BreedsTask, hierarchy: Hierarchy) -> tuple[Superclass, ...]:
    """Return the superclasses of a task, in label order."""
    nodes = hierarchy.at_level(task.level, task.below)
    enough = [node for node in nodes if len(hierarchy.leaves(node)) >= task.subclasses]
    if not enough:
        raise OpenworldError(f"no node at level {task.level} has {task.subclasses} classes; get the files again.")
    return tuple(
        Superclass(
            node, hierarchy.names.get(node, node).split(",")[0].strip(), *_split(node, task.subclasses // 2, hierarchy)
        )
        for node in enough
    )


def _split(node: str, half: int, hierarchy: Hierarchy) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Source and target subclasses: each child's classes are shared out, the child with most classes first."""
    below = hierarchy.children(node)
    while len(below) == 1:
        below = hierarchy.children(below[0])
    # The target takes what the source leaves while it has room; a lone class goes to the source as long as that has.
    source: list[str] = []
    target: list[str] = []
    for leaves in sorted(map(hierarchy.leaves, below), key=len, reverse=True):
        free = half - len(source)
        share = min(len(leaves) // 2, free) if len(leaves) > 1 else min(1, free)
        source += leaves[:share]
        target += leaves[share:][: half - len(target)]
    if not len(source) == len(target) == half or set(source) & set(target):
        raise OpenworldError(f"the classes below {node} cannot be shared out as BREEDS does; get its files again.")
    return tuple(source), tuple(target)
