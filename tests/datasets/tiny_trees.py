"""Tiny-ImageNet and Tiny-ImageNet-C in the layout of their archives, with few classes and images of one colour."""

from pathlib import Path

from PIL import Image

IDS = ("n01443537", "n01496331", "n04008634", "n99999999")
"""Classes of ImageNet-R and of the tiny ImageNet among them, and one that no list but words.txt names."""

NAMES = ("goldfish", "electric ray", "projectile", "imagined fish")
WORDS = {"n01443537": "goldfish, Carassius auratus", "n99999999": "imagined fish, piscis fictus", "n00001740": "entity"}
TAUGHT = 3


def paint(path: Path, colour: tuple[int, int, int]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (64, 64), colour).save(path, "PNG")


def plant_tiny(root: Path, ids=IDS, words=WORDS, *, tested: int = 2) -> Path:
    """As tiny-imagenet-200.zip has it: wnids.txt in no order, validation images in one folder."""
    folder = root / "tiny-imagenet-200"
    lines = []
    for label, one in enumerate(ids):
        for place in range(TAUGHT):
            paint(folder / f"train/{one}/images/{one}_{place}.JPEG", (label, place, 1))
        (folder / f"train/{one}/{one}_boxes.txt").write_text(f"{one}_0.JPEG\t0\t0\t62\t62\n", encoding="utf-8")
    for place in range(tested):
        for label, one in reversed(list(enumerate(ids))):
            file = f"val_{len(lines)}.JPEG"
            paint(folder / f"val/images/{file}", (label, place, 2))
            lines.append(f"{file}\t{one}\t0\t32\t44\t62")
    paint(folder / "test/images/test_0.JPEG", (9, 9, 9))
    (folder / "val/val_annotations.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (folder / "wnids.txt").write_text("".join(f"{one}\n" for one in reversed(ids)), encoding="utf-8")
    text = "".join(f"{one}\t{names}\n" for one, names in words.items())
    (folder / "words.txt").write_text(text, encoding="utf-8")
    return folder


def plant_folders_c(folder: Path, ids, corruptions, *, each: int = 2, severities=range(1, 6)) -> Path:
    """CORRUPTION/SEVERITY/WORDNET_ID/, as ImageNet-C and Tiny-ImageNet-C have it."""
    for number, name in enumerate(corruptions):
        for severity in severities:
            for label, one in enumerate(ids):
                for place in range(each):
                    paint(folder / f"{name}/{severity}/{one}/val_{label}{place}.JPEG", (label, 10 * severity, number))
    return folder
