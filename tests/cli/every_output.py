"""Inputs of every command that writes, and a call of each: what tests of outputs and of crashes share."""

import csv
import sys
from pathlib import Path

import numpy as np
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1] / "datasets"))

from trees import plant  # noqa: E402

SPEC = """
dataset = "{}"
seeds = [1]
shots = 1
views = 1
[[learners]]
learner = "zero-shot"
"""

FIT = ("estimate", "fit", "--source", "src.npz", "--timestamps", "time", "--period", "1d", "--images", "60")
WATCH = ("estimate", "watch", "w.safetensors", "day.npz", "--close", "--json-lines", "lines.jsonl")
WATCH += ("--prometheus", "w.prom")
TWO = ("scores.csv", "--replicates", "0", "--flag-rate", "0.2", "--out")
SHIFT = ("shift", "--reference", "images", "--test", "others", "--laid", "split.safetensors", "--neighbour", "1")
PAINTED = ("synthesize", "--painter", "rendered", "--levels", "3", "--each", "2", "--least", "1", "--neighbour", "1")
PAINTED += ("--reference", "others", "--images", "images", "--laid", "split.safetensors")
PAPERS = ("reproduce", "openworldauc", "--table", "7", "--learners", "CLIP, CoOp", "--data", "papers", "--quick", "50")
PAPERS += ("--backbone", "embedded", "--seeds", "1", "--workers", "1")

COMMANDS = {
    "fit": (*FIT, "--out", "fitted.safetensors"),
    "watch": WATCH,
    "watch --out": (*WATCH, "--out", "page", "--propose", "5"),
    "plan": ("label", "plan", "stream.csv", "--out", "labels", "--n", "30"),
    "plan --add": ("label", "plan", "--add", "answered", "--n", "20"),
    "read": ("label", "read", "answered"),
    "detect": ("detect", "--scores", *TWO, "found"),
    "detect over older": ("detect", "--scores", *TWO, "dets"),
    "detect --apply": ("detect", "--apply", "dets", "new.csv", "--out", "flagged"),
    "average": ("average", "s1", "s2", "--out", "means"),
    "estimate": ("estimate", "--source", "src.npz", "--target", "live.npz", "--estimator", "DoC", "--out", "est"),
    "check": ("check", "s1", "--require", "auroc >= 0.5", "--junit", "check.xml"),
    "predict": ("predict", "learned", "images", "--new", "a thing", "--out", "predicted.parquet"),
    "run": ("run", "spec.toml", "--out", "done", "--workers", "1"),
    "reproduce": (*PAPERS, "--out", "tables"),
    "score": ("score", "p1.csv", "--out", "scored"),
    "report --out": ("report", "s1", "--out", "page.html"),
    "report --table": ("report", "s1", "--table", "csv", "--out", "table.csv"),
    "report --figures": ("report", "s1", "--figures", "svg", "--out", "figures"),
    "new": ("new", "learner", "Mine", "--out", "mine"),
    "synthesize": (*PAINTED, "--out", "painted"),
    "shift": (*SHIFT, "--out", "shifted"),
    "cache": ("cache", "--clear", "--yes"),
    "overlaps": ("data", "overlaps", "caltech101", "--published", "--out", "lists"),
}
"""Name -> a call in the folder."""


def prepare(folder: Path) -> None:
    """Write the inputs, and the outputs of earlier calls that others read."""
    from in_process import told

    generator = np.random.default_rng(0)

    def scored(name, count, sure, day):
        labels = generator.integers(0, 3, count)
        logits = generator.normal(size=(count, 3)) + sure * np.eye(3)[labels]
        times = np.datetime64(day, "s") + np.arange(count)
        np.savez(folder / name, logits=logits, labels=labels, time=np.datetime_as_string(times))

    scored("src.npz", 200, 2.0, "2023-12-31")
    scored("live.npz", 60, 1.0, "2024-01-01")
    scored("day.npz", 60, 1.0, "2024-01-01")
    for number in (1, 2):
        rows = [("side", "score", "correct")]
        rows += [(("base", "new")[row % 2], f"{generator.normal() - row % 2:.3f}", row % 3 > 0) for row in range(40)]
        write(folder / f"p{number}.csv", rows)
    sets = [("group", "part", "image", "MSP")]
    sets += [("id", "validation", f"v{row}.png", f"{generator.normal():.4f}") for row in range(40)]
    for group in ("id", "far"):
        sets += [(group, "test", f"{group}{row}.png", f"{generator.normal() - 1:.4f}") for row in range(20)]
    write(folder / "scores.csv", sets)
    write(folder / "older.csv", [sets[0], *((*row[:3], f"{2 * float(row[3]):.4f}") for row in sets[1:])])
    write(folder / "new.csv", [("image", "MSP"), *((f"n{row}.png", f"{generator.normal():.4f}") for row in range(9))])
    stream = [("id", "score", "base_name", "new_name")]
    stream += [(f"i{row}", f"{row % 2 + generator.normal():.4f}", f"b{row % 3}", f"n{row % 5}") for row in range(120)]
    write(folder / "stream.csv", stream)
    for place, shade in (("images", 40), ("others", 90)):
        for name in ("cat", "dog"):
            paint(folder / place / name, generator, [shade + 60 * number for number in range(3)])
    for part, count in (("train", 1), ("validation", 1), ("test", 2)):
        for name in ("cat", "dog", "owl", "yak"):
            paint(folder / "four" / part / name, generator, [200] * count)
    (folder / "spec.toml").write_text(SPEC.format(folder.resolve() / "four"))
    plant(folder / "papers", "dtd")
    keep_split_and_learner(folder)
    told(folder, *FIT, "--out", "w.safetensors")
    for number in (1, 2):
        told(folder, "score", f"p{number}.csv", "--out", f"s{number}")
    told(folder, "detect", "--scores", "older.csv", *TWO[1:], "dets")
    told(folder, "label", "plan", "stream.csv", "--out", "answered", "--n", "40")
    with (folder / "answered" / "worksheet.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    answers = [row | {"answer": ("base right", "new right", "new wrong")[place % 3]} for place, row in enumerate(rows)]
    write(folder / "answered" / "worksheet.csv", [list(rows[0]), *(list(row.values()) for row in answers)])
    told(folder, "run", "spec.toml", "--out", "warm", "--workers", "1", "--quiet")  # what it encodes is in the cache


def keep_split_and_learner(folder: Path) -> None:
    """Keep a decomposition of the embedded CLIP's features in two halves, and a learner that needs no training."""
    from openworld import backbones, datasets
    from openworld.features import Encoding, encode
    from openworld.learners import ZeroShot

    keep_halves(folder / "split.safetensors")
    clip, images = backbones.load("embedded"), datasets.load("emoji-groups", part="train", shots=1)
    features = encode(clip, images, Encoding(), cache=folder / "cache")
    ZeroShot().fit(clip, features.of_classes(np.arange(3)), seed=1).save(folder / "learned")


def keep_halves(path: Path) -> None:
    """Keep a decomposition of the embedded CLIP's features in two halves, by hand."""
    import torch

    from openworld import backbones
    from openworld.shifts import Decomposition

    clip = backbones.load("embedded")
    about = {"method": "by hand", "backbone": clip.name, "weights": clip.fingerprint}
    Decomposition.of_matrix(torch.eye(clip.config.joint_dimension), about=about).save(path)


def save(folder: Path, images, change=lambda image: image) -> None:
    """Save the images of a set in class folders."""
    for row in range(len(images)):
        place = folder / images.classnames[images.labels[row]].replace(" ", "_")
        place.mkdir(parents=True, exist_ok=True)
        change(images.image(row)).save(place / f"{row:03}.png")


def paint(folder: Path, generator: np.random.Generator, shades: list[int]) -> None:
    folder.mkdir(parents=True)
    for number, shade in enumerate(shades):
        pixels = generator.integers(0, shade, (32, 32, 3)).astype(np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")


def write(path: Path, rows) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)
