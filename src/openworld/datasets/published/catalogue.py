"""The data sets of the papers that people download: where each lies, what it should hold, and where it comes from.

Folders, split files and few-shot draws are those of CoOp (Zhou et al., 2022, KaiyangZhou/CoOp, DATASETS.md), which the
papers of this field share; counts are the published ones. Each data set's sentence is in `templates`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from openworld.datasets.formats.split_files import Split, read_split_file, read_variants
from openworld.datasets.published.class_folders import LISTING, ClassFolders, read_class_folders
from openworld.datasets.published.downloads import sources_of

COOP_PAGE = "https://github.com/KaiyangZhou/CoOp/blob/main/DATASETS.md"
"""Says for every data set here what to download and how to lay it out."""


@dataclass(frozen=True)
class PublishedSet:
    """One data set to download.

    Args:
        title: its name in papers.
        what: its classes, or its pictures where the classes are ImageNet's, in a few words.
        folder: its place below the folder of all data sets.
        images: its image folder, below `folder`; "" if that is the folder itself.
        listings: the files, below `folder`, that say which picture is what.
        layout: "split" (a CoOp split file), "variants" (FGVC-Aircraft's lists), or how class folders are understood.
        classes: how many there should be.
        pictures: part -> how many there should be.
        sources: (what, address) of everything to download.
    """

    title: str
    what: str
    folder: str
    images: str
    listings: tuple[str, ...]
    layout: str | ClassFolders
    classes: int
    pictures: dict[str, int]
    sources: tuple[tuple[str, str], ...]

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts it has; ImageNet's published validation pictures are its test, so it has no validation part."""
        return tuple(self.pictures)

    def read(self, root: Path, parts: tuple[str, ...]) -> Split:
        """What lies below `root`, the folder of all data sets: class names, and the pictures of `parts` at least."""
        folder = root / self.folder
        if isinstance(self.layout, ClassFolders):
            return read_class_folders(folder, folder / self.images, self.layout, parts)
        return READERS[self.layout](self, folder)


READERS: dict[str, Callable[[PublishedSet, Path], Split]] = {
    "split": lambda card, folder: read_split_file(folder / card.listings[0]),
    "variants": lambda card, folder: read_variants(folder),
}
"""Layout -> how its lists are read."""


PUBLISHED: dict[str, PublishedSet] = {
    "imagenet": PublishedSet("ImageNet", "things of all kinds", "imagenet", "images", (LISTING,),
        ClassFolders({"train": "train", "test": "val"}), classes=1000, pictures={"train": 1_281_167, "test": 50_000},
        sources=sources_of("imagenet")),
    "caltech101": PublishedSet("Caltech101", "objects", "caltech-101", "101_ObjectCategories",
        ("split_zhou_Caltech101.json",), "split", classes=100,
        pictures={"train": 4128, "validation": 1649, "test": 2465}, sources=sources_of("caltech101")),
    "oxford_pets": PublishedSet("OxfordPets", "breeds of cats and dogs", "oxford_pets", "images",
        ("split_zhou_OxfordPets.json",), "split", classes=37,
        pictures={"train": 2944, "validation": 736, "test": 3669}, sources=sources_of("oxford_pets")),
    "stanford_cars": PublishedSet("StanfordCars", "models of cars", "stanford_cars", "",
        ("split_zhou_StanfordCars.json",), "split", classes=196,
        pictures={"train": 6509, "validation": 1635, "test": 8041}, sources=sources_of("stanford_cars")),
    "oxford_flowers": PublishedSet("Flowers102", "flowers", "oxford_flowers", "jpg",
        ("split_zhou_OxfordFlowers.json",), "split", classes=102,
        pictures={"train": 4093, "validation": 1633, "test": 2463}, sources=sources_of("oxford_flowers")),
    "food101": PublishedSet("Food101", "dishes", "food-101", "images", ("split_zhou_Food101.json",), "split",
        classes=101, pictures={"train": 50_500, "validation": 20_200, "test": 30_300}, sources=sources_of("food101")),
    "fgvc_aircraft": PublishedSet("FGVCAircraft", "variants of aircraft", "fgvc_aircraft", "images",
        ("variants.txt", *(f"images_variant_{part}.txt" for part in ("train", "val", "test"))), "variants",
        classes=100, pictures={"train": 3334, "validation": 3333, "test": 3333}, sources=sources_of("fgvc_aircraft")),
    "sun397": PublishedSet("SUN397", "scenes", "sun397", "SUN397", ("split_zhou_SUN397.json",), "split", classes=397,
        pictures={"train": 15_880, "validation": 3970, "test": 19_850}, sources=sources_of("sun397")),
    "dtd": PublishedSet("DTD", "textures", "dtd", "images", ("split_zhou_DescribableTextures.json",), "split",
        classes=47, pictures={"train": 2820, "validation": 1128, "test": 1692}, sources=sources_of("dtd")),
    "eurosat": PublishedSet("EuroSAT", "kinds of land from above", "eurosat", "2750", ("split_zhou_EuroSAT.json",),
        "split", classes=10, pictures={"train": 13_500, "validation": 5400, "test": 8100},
        sources=sources_of("eurosat")),
    "ucf101": PublishedSet("UCF101", "actions, in the middle frames of videos", "ucf101", "UCF-101-midframes",
        ("split_zhou_UCF101.json",), "split", classes=101, pictures={"train": 7639, "validation": 1898, "test": 3783},
        sources=sources_of("ucf101")),
    "imagenetv2": PublishedSet("ImageNetV2", "new photos, taken as ImageNet's were (matched frequency)", "imagenetv2",
        "imagenetv2-matched-frequency-format-val", (LISTING,), ClassFolders({"test": ""}, numbered=True),
        classes=1000, pictures={"test": 10_000}, sources=sources_of("imagenetv2")),
    "imagenet-sketch": PublishedSet("ImageNet-Sketch", "sketches of all of ImageNet's classes", "imagenet-sketch",
        "images", (LISTING,), ClassFolders({"test": ""}), classes=1000, pictures={"test": 50_889},
        sources=sources_of("imagenet-sketch")),
    "imagenet-a": PublishedSet("ImageNet-A", "photos that fool a ResNet-50", "imagenet-adversarial", "imagenet-a",
        (LISTING,), ClassFolders({"test": ""}, subset=True), classes=200, pictures={"test": 7500},
        sources=sources_of("imagenet-a")),
    "imagenet-r": PublishedSet("ImageNet-R", "art, toys and other renditions", "imagenet-rendition", "imagenet-r",
        (LISTING,), ClassFolders({"test": ""}, subset=True), classes=200, pictures={"test": 30_000},
        sources=sources_of("imagenet-r")),
}  # fmt: skip
"""Name -> what is known of the data set; the order is that of the papers' tables, then ImageNet's variants."""
