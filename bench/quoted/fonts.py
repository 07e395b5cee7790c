"""Two worlds of the pool, drawn in the fonts of this machine: `letters` and `characters`.

    letters      26 letters, upper and lower case of one class; 1,000 images each of source and unshifted target
    characters   62 letters and digits, a class each; source and unshifted target of 400 images, six or seven a class

The families of sans, serif and mono fonts (`glyphs.KINDS`) are dealt anew for every seed: a quarter train the judged
models, a quarter the references, and a half is tested on. Source and unshifted target are the characters of the
tested families' plain faces, shuffled and cut. Shifted sets of ten families: images of the unshifted target in
corruptions of the package, turned, scaled, moved, covered or inverted; other styles of the tested families; kinds of
fonts that no model has seen; and mixtures (one kind, one case, few classes).

    cnn-*, wide-*    judged (`readers`)
    reference        another kind of network, on its own families, with other spoiled images
    reference_weak   a linear model of 64 grey means, on four images of a character
    reference_kin    the judged model's recipe from another seed, on the judged model's images

    python bench/quoted/fonts.py --out POOL [--world letters] [--fonts /usr/share/fonts] [--seeds 0,1]

A seed takes one to two minutes on one core. matplotlib's fonts alone will do, with fewer images and no kinds but the
plain three. The others come from Debian packages, 115 MB: `apt install` with fonts- before each of

    3270 adf-accanthis adf-baskervald adf-berenis adf-gillius adf-ikarius adf-irianis adf-libris adf-mekanus
    adf-oldania adf-romande adf-solothurn adf-tribun adf-universalis adf-verana aenigma agave allerta anonymous-pro
    apropal averia-sans-gwf averia-serif-gwf b612 bebas-neue blankenburg breip cabin cabinsketch cantarell cardo
    century-catalogue cherrybomb clear-sans comfortaa comic-neue compagnon courier-prime crosextra-caladea
    dancingscript dejavu-core dejavu-extra dkg-handwriting dosis dustin ebgaramond ecolier-court elstob engadget
    essays1743 eurofurence fantasque-sans fanwood femkeklaver firacode freefont-ttf gemunu-libre georgewilliams
    gfs-didot glasstty gnutypewriter go gotico-antiqua goudybookletter havana humor-sans inconsolata inter isabella
    jetbrains-mono jsmath junction junicode jura karla kaushanscript kristi lato le-murmure league-mono
    league-spartan leckerli-one liberation lindenhill linuxlibertine lobster lobstertwo manrope monofur monoid-tight
    mononoki national-park noto-mono ocr-a ocr-b oldstandard open-sans opendin opendyslexic osifont oxygen paratype
    play prociono quattrocento quicksand roadgeek roboto-slab roboto-unhinted routed-gothic rufscript sil-andika
    sil-charis sil-gentium sixtyfour sjfonts sora staypuft stix tiresias tomsontalks train tuffy ubuntu-title
    urw-base35 vollkorn yanone-kaffeesatz yrsa-rasa
"""

import argparse
import string
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pool
import torch
from glyphs import PLAIN_KINDS, SIDE, Face, draw, faces
from readers import RECIPES, Reader, train
from spoiling import inverted, mirrored, moved, noisy, occluded, salt_and_pepper, scaled, turned

from openworld.datasets.corruptions import CORRUPTIONS


@dataclass(frozen=True)
class World:
    """What is drawn and how often; `classname` names the class of a character."""

    characters: str
    classname: Callable[[str], str]
    source: int
    shifted: int
    training: int

    @property
    def classnames(self) -> list[str]:
        return sorted({self.classname(character) for character in self.characters})


@dataclass(frozen=True)
class Images:
    """Grey images float32[n, 32, 32] in [0, 1], and what each shows."""

    pixels: np.ndarray
    labels: np.ndarray
    characters: np.ndarray
    kinds: np.ndarray

    def rows(self, chosen: np.ndarray | slice) -> "Images":
        return Images(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))


WORLDS = {
    "letters": World(string.ascii_letters, str.upper, source=1_000, shifted=800, training=120),
    "characters": World(string.ascii_letters + string.digits, str, source=400, shifted=500, training=60),
}
MODELS = ("cnn", "wide")
STYLES = ("slanted", "heavy", "light", "narrow")
KINDS = ("hand", "blackletter", "display", "novelty")
CORRUPTED = {
    "noise": (("gaussian_noise", 5), ("speckle_noise", 5)),
    "blur": (("defocus_blur", 3), ("motion_blur", 4), ("zoom_blur", 5), ("glass_blur", 3)),
    "weather": (("fog", 4), ("frost", 3), ("snow", 2), ("spatter", 4)),
    "digital": (("contrast", 4), ("elastic_transform", 5), ("pixelate", 5), ("jpeg_compression", 5)),
}
"""Family -> the package's corruptions and their severities."""
SPOILED = (
    {f"geometry--turned-{d}": partial(turned, degrees=d) for d in (15, 30, 60)}
    | {f"geometry--scaled-{f:g}": partial(scaled, factor=f) for f in (0.6, 1.4)}
    | {"geometry--moved-down-5": partial(moved, down=5), "geometry--mirrored": mirrored}
    | {f"occlusion--square-{s}": partial(occluded, side=s, grey=0.5) for s in (8, 12, 16)}
    | {f"inversion--{s:g}": partial(inverted, share=s) for s in (0.25, 1)}
    | {f"noise--gaussian-{d:g}": partial(noisy, deviation=d) for d in (0.15, 0.25, 0.4)}
    | {f"noise--salt-and-pepper-{s:g}": partial(salt_and_pepper, share=s) for s in (0.02, 0.1)}
)
MIXTURES: dict[str, Callable[[Images], np.ndarray]] = {
    "mono": lambda images: images.kinds == "mono",
    "lower-case": lambda images: np.char.islower(images.characters),
    "upper-case": lambda images: np.char.isupper(images.characters),
    "few-classes": lambda images: np.isin(np.char.upper(images.characters), list("CEILOST01")),
}
"""Name -> which images of the unshifted law it keeps."""


def drawn(world: World, pairs: list[tuple[Face, str]], seed: list[int]) -> Images:
    """Draw characters in faces, each at its random place."""
    draws, names = np.random.default_rng(seed), world.classnames
    characters = np.array([character for _, character in pairs])
    return Images(
        np.stack([draw(face, character, draws) for face, character in pairs]),
        np.array([names.index(world.classname(character)) for character in characters]),
        characters,
        np.array([face.kind for face, _ in pairs]),
    )


def every_character(world: World, chosen: list[Face], count: int | None, seed: list[int]) -> Images:
    """Draw every character in every face once, shuffled, `count` at most."""
    pairs = [(face, character) for face in chosen for character in world.characters]
    order = np.random.default_rng(seed).permutation(len(pairs))[:count]
    return drawn(world, [pairs[row] for row in order], [*seed, 1])


def by_chance(world: World, chosen: list[Face], each: int, seed: list[int]) -> Images:
    """Draw every character `each` times, in faces by chance."""
    draws = np.random.default_rng(seed)
    pairs = [(chosen[draws.integers(len(chosen))], c) for c in world.characters for _ in range(each)]
    return drawn(world, pairs, [*seed, 1])


def dealt(found: list[Face], seed: int) -> dict[str, set[str]]:
    """Deal the families of every plain kind to those tested on, trained on, and the references'."""
    draws, families = np.random.default_rng(seed), []
    for kind in PLAIN_KINDS:
        families += list(draws.permutation(sorted({f.family for f in found if (f.kind, f.style) == (kind, "plain")})))
    parts = ("test", "train", "test", "reference")
    return {part: {family for n, family in enumerate(families) if parts[n % 4] == part} for part in parts}


def spoils(seed: int) -> dict[str, Callable[[np.ndarray], np.ndarray]]:
    """Return every way to spoil images by name, with its own randomness."""
    ways = SPOILED | {
        f"{family}--{name.replace('_', '-')}-{severity}": partial(corrupted, name=name, severity=severity)
        for family, members in CORRUPTED.items()
        for name, severity in members
    }
    return {
        name: lambda pixels, way=way, number=number: way(pixels, np.random.default_rng([seed, 20, number]))
        for number, (name, way) in enumerate(ways.items())
    }


def corrupted(pixels: np.ndarray, draws: np.random.Generator, *, name: str, severity: int) -> np.ndarray:
    """Return a corruption of the package, made grey again."""
    colour = np.repeat(np.round(pixels * 255).astype(np.uint8)[..., None], 3, axis=-1)
    return np.stack([CORRUPTIONS[name](image, severity, draws, side=SIDE).mean(-1) / 255 for image in colour])


def image_sets(world: World, found: list[Face], seed: int) -> dict[str, Images]:
    """Return source, unshifted target and every shifted set by name."""
    tested = dealt(found, seed)["test"]
    law = every_character(world, [f for f in found if f.family in tested and f.style == "plain"], None, [seed, 10])
    count = min(world.source, len(law.labels) // 2)
    held = law.rows(slice(count, None))
    sets = {"source": law.rows(slice(count)), "same--unseen": held.rows(slice(count))}
    base = held.rows(slice(world.shifted))
    for name, spoil in spoils(seed).items():
        sets[name] = replace(base, pixels=np.clip(spoil(base.pixels), 0, 1).astype(np.float32))
    for name, keeps in MIXTURES.items():
        sets[f"mixture--{name}"] = held.rows(keeps(held)).rows(slice(world.shifted))
    others = {f"style--{style}": [f for f in found if f.family in tested and f.style == style] for style in STYLES}
    others |= {f"kind--{kind}": [f for f in found if f.kind == kind and f.style == "plain"] for kind in KINDS}
    for number, (name, chosen) in enumerate(others.items()):
        if chosen:
            sets[name] = every_character(world, chosen, world.shifted, [seed, 30, number])
    return sets


def readers(world: World, found: list[Face], seed: int, each: int) -> dict[str, Reader]:
    """Return the trained networks by name: the judged models, their kin and the references."""
    part = dealt(found, seed)
    plain = {name: [f for f in found if f.family in part[name] and f.style == "plain"] for name in part}
    shown = by_chance(world, plain["train"], each, [seed, 40])
    known = by_chance(world, plain["reference"], each, [seed, 41])
    few = by_chance(world, plain["reference"], 4, [seed, 42])
    fit = partial(train, classes=len(world.classnames))
    trained = {name: fit(RECIPES[name], shown.pixels, shown.labels, seed=seed) for name in MODELS}
    kin = {f"{name}-kin": fit(RECIPES[name], shown.pixels, shown.labels, seed=seed + 1_000) for name in MODELS}
    reference = fit(RECIPES["slopes"], known.pixels, known.labels, seed=seed)
    weak = fit(RECIPES["dots"], few.pixels, few.labels, seed=seed)
    return trained | kin | {"reference": reference, "reference_weak": weak}


def make(out: Path, name: str, found: list[Face], seed: int, each: int | None = None) -> None:
    """Write every set of both judged models of a seed; a finished pair of folders stays."""
    world, folders = WORLDS[name], {model: out / name / f"{model}-{seed}" for model in MODELS}
    if all(pool.is_kept(folder, "source") for folder in folders.values()):
        return
    networks = readers(world, found, seed, each or world.training)
    sets = image_sets(world, found, seed)
    # The source is written last: it says that the folder is whole.
    for title, images in reversed(sets.items()):
        logits = {reader: network(images.pixels) for reader, network in networks.items()}
        shared = {"labels": images.labels, "classnames": np.array(world.classnames)}
        shared |= {column: logits[column] for column in ("reference", "reference_weak")}
        for model, folder in folders.items():
            pool.keep(folder, title, logits=logits[model], reference_kin=logits[f"{model}-kin"], **shared)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--world", choices=WORLDS, action="append", help="both by default")
    parser.add_argument("--fonts", type=Path, default=Path("/usr/share/fonts"))
    parser.add_argument("--seeds", type=lambda text: [int(seed) for seed in text.split(",")], default=[0, 1])
    parser.add_argument("--each", type=int, help="training images of a character; fewer for a quick look")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    for name in options.world or WORLDS:
        found = faces([options.fonts], WORLDS[name].characters)
        for seed in options.seeds:
            start = time.perf_counter()
            make(options.out, name, found, seed, options.each)
            for model in MODELS:
                print(pool.summary(options.out / name / f"{model}-{seed}"), flush=True)
            print(f"{name}, seed {seed}: {len(found)} faces, {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
