"""Tiny trees in the exact layouts of the data sets that people download.

The layouts are written out from CoOp's instructions, and not taken from our cards, which they are to check.
"""

import json
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from itertools import count
from pathlib import Path

from PIL import Image

SPLIT_SETS = {
    "caltech101": ("caltech-101", "101_ObjectCategories", "split_zhou_Caltech101.json", "{name}/image_{n:04d}.jpg"),
    "oxford_pets": ("oxford_pets", "images", "split_zhou_OxfordPets.json", "{name}_{n}.jpg"),
    "stanford_cars": ("stanford_cars", "", "split_zhou_StanfordCars.json", "cars_train/{n:05d}.jpg"),
    "oxford_flowers": ("oxford_flowers", "jpg", "split_zhou_OxfordFlowers.json", "image_{n:05d}.jpg"),
    "food101": ("food-101", "images", "split_zhou_Food101.json", "{name}/{n}.jpg"),
    "sun397": ("sun397", "SUN397", "split_zhou_SUN397.json", "{name[0]}/{name}/sun_{n}.jpg"),
    "dtd": ("dtd", "images", "split_zhou_DescribableTextures.json", "{name}/{name}_{n:04d}.jpg"),
    "eurosat": ("eurosat", "2750", "split_zhou_EuroSAT.json", "{name}/{name}_{n}.jpg"),
    "ucf101": ("ucf101", "UCF-101-midframes", "split_zhou_UCF101.json", "{name}/v_{name}_g01_c{n:02d}.jpg"),
}
"""Name -> folder, image folder, split file, an image's path."""

FOLDER_SETS = {
    "imagenet": ("imagenet", {"train": "images/train", "test": "images/val"}),
    "imagenetv2": ("imagenetv2", {"test": "imagenetv2-matched-frequency-format-val"}),
    "imagenet-sketch": ("imagenet-sketch", {"test": "images"}),
    "imagenet-a": ("imagenet-adversarial", {"test": "imagenet-a"}),
    "imagenet-r": ("imagenet-rendition", {"test": "imagenet-r"}),
}
"""Name -> folder, and where the class folders of each part lie."""

CLASSES = ("wild_dog", "Abbey", "cat 2")
PER_CLASS = {"train": 6, "val": 5, "test": 2}
PARTS = {"train": "train", "validation": "val", "test": "test"}

# In the order of their ids; two pairs share a name in the published list.
WORDNET = {
    "n01440764": "tench",
    "n01443537": "goldfish",
    "n01484850": "great white shark",
    "n01491361": "tiger shark",
    "n01494475": "hammerhead shark",
    "n01496331": "electric ray",
    "n01498041": "stingray",
    "n01514668": "rooster",
    "n03773504": "missile",
    "n04008634": "missile",
    "n04355933": "sunglasses",
    "n04356056": "sunglasses",
}
SUBSETS = {"imagenet-a": ("n01443537", "n01498041"), "imagenet-r": ("n01440764", "n01498041", "n04008634")}
ALL = (*SPLIT_SETS, "fgvc_aircraft", *FOLDER_SETS)


@dataclass
class Tree:
    """What was planted: the data set's folder, its image folder, and (path, label) of every image by part."""

    folder: Path
    images: Path
    classnames: tuple[str, ...]
    rows: dict[str, list[tuple[str, int]]] = field(default_factory=dict)


def plant(root: Path, name: str) -> Tree:
    """A tiny data set below `root`, in the layout of `name`."""
    if name in SPLIT_SETS:
        return _plant_split(root, *SPLIT_SETS[name])
    return _plant_aircraft(root) if name == "fgvc_aircraft" else _plant_folders(root, name)


def make_image(path: Path, number: int) -> None:
    """A tiny image; `number` is its red."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_encoded(number, path.suffix))


@cache
def _encoded(number: int, suffix: str) -> bytes:
    file = BytesIO()
    Image.new("RGB", (4, 4), (number, 0, 0)).save(file, Image.registered_extensions()[suffix.lower()])
    return file.getvalue()


def write_names(folder: Path) -> None:
    lines = [f"{wordnet_id} {name}\n" for wordnet_id, name in WORDNET.items()]
    (folder / "classnames.txt").write_text("".join(lines))


def _listed():
    """(part, label, number) as a split file might list them: no class after the other, none in the order of labels."""
    numbers = count(1)
    for part, each in PER_CLASS.items():
        for _ in range(each):
            for label in (2, 0, 1):
                yield part, label, next(numbers)


def _plant_split(root: Path, folder: str, images: str, listing: str, pattern: str) -> Tree:
    tree = Tree(root / folder, root / folder / images, tuple(name.replace("_", " ") for name in CLASSES))
    split = {part: [] for part in PER_CLASS}
    for part, label, number in _listed():
        path = pattern.format(name=CLASSES[label].replace(" ", "_"), n=number)
        make_image(tree.images / path, number)
        split[part].append([path, label, CLASSES[label]])
    (tree.folder / listing).write_text(json.dumps(split))
    tree.rows = {part: [(path, label) for path, label, _ in split[key]] for part, key in PARTS.items()}
    return tree


def _plant_aircraft(root: Path) -> Tree:
    variants = ("707-320", "Boeing 717", "DR-400")
    tree = Tree(root / "fgvc_aircraft", root / "fgvc_aircraft" / "images", variants)
    lines = {part: [] for part in PER_CLASS}
    for part, label, number in _listed():
        make_image(tree.images / f"{number:07d}.jpg", number)
        lines[part].append((f"{number:07d}", label))
    (tree.folder / "variants.txt").write_text("\n".join(variants) + "\n")
    for part, own in lines.items():
        text = "".join(f"{image_id} {variants[label]}\n" for image_id, label in own)
        (tree.folder / f"images_variant_{part}.txt").write_text(text)
    tree.rows = {part: [(f"{one}.jpg", label) for one, label in lines[key]] for part, key in PARTS.items()}
    return tree


def _plant_folders(root: Path, name: str) -> Tree:
    folder, places = FOLDER_SETS[name]
    ids = SUBSETS.get(name, tuple(WORDNET))
    mended = WORDNET | {"n04008634": "projectile", "n04355933": "sunglass"}
    images = "images" if name == "imagenet" else places["test"]
    tree = Tree(root / folder, root / folder / images, tuple(mended[one] for one in ids))
    numbers = count(1)
    for part, place in places.items():
        tree.rows[part] = []
        for label, wordnet_id in enumerate(ids):
            own = str(label) if name == "imagenetv2" else wordnet_id
            for number in range(3 if part == "train" else 2):
                path = root / folder / place / own / f"{wordnet_id}_{number}.JPEG"
                make_image(path, next(numbers))
                tree.rows[part].append((path.relative_to(tree.images).as_posix(), label))
    write_names(tree.folder)
    if name == "imagenet-a":
        (tree.images / "README.txt").write_text("not a class")
    return tree
