"""Build the images of the embedded world: fetch the pinned icon sets, render them once, store one Parquet.

    python tools/build_emoji_world.py FOLDER_FOR_DOWNLOADS

Needs npm, resvg_py, SciPy, Pillow and pyarrow. Users of openworld never run it: what it writes lies in
src/openworld/datasets/emoji/. Concepts are matched between the sets by code point, never by hand.
"""

import hashlib
import io
import json
import random
import re
import subprocess
import sys
import tarfile
import unicodedata
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import resvg_py
from PIL import Image
from scipy.cluster.vq import kmeans2, vq

SETS = {
    "noto": "1.2.9",
    "noto-v1": "1.2.5",
    "fluent-emoji-flat": "1.2.6",
    "fluent-emoji": "1.2.7",
    "emojione": "1.2.3",
    "twemoji": "1.2.5",
    "fluent-emoji-high-contrast": "1.2.6",
    "emojione-monotone": "1.2.1",
}
NAMES = ("emojibase-data", "17.0.0")
SAME_NAMES = {"fluent-emoji": "fluent-emoji-flat", "emojione-monotone": "emojione"}
LEFT_OUT_GROUPS = {"component", "flags"}
LEFT_OUT_SUBGROUPS = {"keycap", "alphanum"}
FEWEST_STYLES = 4
RENDERED, STORED, COLOURS = 128, 64, 64
WITHHOLD_EVERY, WITHHOLD_SEED = 8, 2024

NOTICE = """# The drawings of the embedded world

The drawings in pictures.parquet are other people's work, under their licences:

| style | set | by | licence | taken from |
|---|---|---|---|---|
{table}

**Changes:** emoji with skin tones, flags, letters, keycaps and gender variants were left out; the rest was rendered
from SVG at {size} x {size} pixels and reduced to {colours} colours. A picture that is shown may be scaled, turned,
moved and laid over a background. None of the authors endorses openworld.

Names, keywords, groups and subgroups in concepts.json are from {names} {version}, copyright 2017-2019 Miles
Johnson, MIT, which takes them from the Unicode CLDR, copyright 1991-2025 Unicode, Inc., Unicode License v3.

Texts: [Apache-2.0](LICENSES/Apache-2.0.txt) for Noto, [MIT](LICENSES/MIT.txt) for Fluent and {names},
[Unicode-3.0](LICENSES/Unicode-3.0.txt) for the CLDR, and https://creativecommons.org/licenses/by/4.0/legalcode for
Twitter Emoji and Emoji One.
"""

HERE = Path(__file__).resolve().parent
OUT = HERE.parent / "src" / "openworld" / "datasets" / "emoji"


def main(downloads: Path) -> None:
    """Fetch, match, render, write."""
    folders, tarballs = fetch(downloads)
    concepts = read_concepts(folders[NAMES[0]])
    table = name_table(concepts, folders)
    bodies = {style: icons_by_concept(folders[style], table, folders) for style in SETS}
    concepts = [c for c in concepts if sum(c["id"] in found for found in bodies.values()) >= FEWEST_STYLES]
    concepts = mark_withheld(mark_twins(concepts))
    rows = [
        {"concept": concept["id"], "style": style, "png": encode(render(bodies[style][concept["id"]]))}
        for style in SETS
        for concept in concepts
        if concept["id"] in bodies[style]
    ]
    write(concepts, rows, folders, tarballs)


# --- fetching ---------------------------------------------------------------------------------------------


def fetch(downloads: Path) -> tuple[dict[str, Path], dict[str, str]]:
    """Pinned packages as folders, and the sha256 of every archive."""
    downloads.mkdir(parents=True, exist_ok=True)
    folders, hashes = {}, {}
    for name, version in [*SETS.items(), NAMES]:
        package = name if name == NAMES[0] else f"@iconify-json/{name}"
        archive = downloads / f"{package.strip('@').replace('/', '-')}-{version}.tgz"
        if not archive.exists():
            subprocess.run(["npm", "pack", "--silent", f"{package}@{version}"], cwd=downloads, check=True)
        folders[name] = downloads / archive.stem
        with tarfile.open(archive) as packed:
            packed.extractall(folders[name], filter="data")
        folders[name] /= "package"
        hashes[f"{package}@{version}"] = hashlib.sha256(archive.read_bytes()).hexdigest()
    return folders, hashes


def read_json(path: Path):
    return json.loads(path.read_text(encoding="utf-8"))


# --- concepts ---------------------------------------------------------------------------------------------


def read_concepts(folder: Path) -> list[dict]:
    """Emoji with group and subgroup in Unicode's order, without flags, letters, skin tones and gender variants."""
    meta = read_json(folder / "meta" / "groups.json")
    entries = [e for e in read_json(folder / "en" / "data.json") if "group" in e]
    labels = {entry["label"] for entry in entries}
    concepts = []
    for entry in sorted(entries, key=lambda e: e["order"]):
        group, subgroup = meta["groups"][str(entry["group"])], meta["subgroups"][str(entry["subgroup"])]
        if group in LEFT_OUT_GROUPS or subgroup in LEFT_OUT_SUBGROUPS or is_variant(entry, labels):
            continue
        concepts.append(
            {
                "id": code_points(entry["hexcode"]),
                "name": plain(entry["label"]),
                "keywords": [plain(tag) for tag in entry.get("tags", [])],
                "group": group,
                "subgroup": subgroup,
            }
        )
    return concepts


def is_variant(entry: dict, labels: set[str]) -> bool:
    """The same thing with another gender, hair or direction: drawn so alike that it is no concept of its own."""
    label = entry["label"]
    if "gender" in entry or "facing right" in label:
        return True
    if re.match(r"(family|kiss|couple with heart): .*\b(man|woman)\b|(man|woman): ", label):
        return True
    neutral = re.sub(r"^(man|woman) ", "", label)
    return neutral != label and (neutral in labels or f"person {neutral}" in labels)


def code_points(hexcode: str) -> str:
    """'2764-FE0F-200D-1F525' -> '2764-200d-1f525': the variation selector is optional everywhere."""
    return "-".join(part for part in hexcode.lower().split("-") if part != "fe0f")


def plain(text: str) -> str:
    """Typographic quotes and accents to ASCII."""
    text = text.replace("’", "'").replace("“", '"').replace("”", '"')
    return unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", plain(text).replace("'", "").lower()).strip("-")


def mark_twins(concepts: list[dict]) -> list[dict]:
    """`twin_of`: the concept (first of its line in emoji_twins.json) this one cannot be told from by eye."""
    ids = {concept["name"]: concept["id"] for concept in concepts}
    twin_of = {}
    for first, *others in read_json(HERE / "emoji_twins.json")["twins"]:
        twin_of |= {ids[name]: ids[first] for name in others}
    return [{**concept, "twin_of": twin_of.get(concept["id"])} for concept in concepts]


def mark_withheld(concepts: list[dict]) -> list[dict]:
    """Every eighth concept, shuffled within its subgroup: withheld from pre-training, spread over the hierarchy.

    Twins and what has twins are passed over: a withheld concept must not be seen under another name.
    """
    drawn = random.Random(WITHHOLD_SEED)
    twins = {concept["twin_of"] for concept in concepts} | {c["id"] for c in concepts if c["twin_of"]}
    free = [concept for concept in concepts if concept["id"] not in twins]
    subgroup_order = {name: place for place, name in enumerate(dict.fromkeys(c["subgroup"] for c in concepts))}
    shuffled = sorted(free, key=lambda concept: (subgroup_order[concept["subgroup"]], drawn.random()))
    withheld = {concept["id"] for concept in shuffled[WITHHOLD_EVERY // 2 :: WITHHOLD_EVERY]}
    return [{**concept, "withheld": concept["id"] in withheld} for concept in concepts]


# --- matching ---------------------------------------------------------------------------------------------


def name_table(concepts: list[dict], folders: dict[str, Path]) -> dict[str, str]:
    """Icon name -> code points: from the sets that carry a table, then CLDR labels, then Unicode names."""
    table: dict[str, str] = {}
    for style in ("fluent-emoji-flat", "noto", "twemoji", "fluent-emoji-high-contrast"):
        for points, name in read_json(folders[style] / "chars.json").items():
            table.setdefault(name, code_points(points))
    for concept in concepts:
        table.setdefault(slug(concept["name"]), concept["id"])
    for concept in concepts:
        if "-" not in concept["id"]:
            table.setdefault(slug(unicodedata.name(chr(int(concept["id"], 16)), concept["name"])), concept["id"])
    for style in ("noto", "twemoji"):
        for alias, target in read_json(folders[style] / "icons.json").get("aliases", {}).items():
            if set(target) == {"parent"} and target["parent"] in table:
                table.setdefault(alias, table[target["parent"]])
    return table


def icons_by_concept(folder: Path, table: dict[str, str], folders: dict[str, Path]) -> dict[str, str]:
    """Code points -> SVG text, by the set's own table where it has one, else by name."""
    icons = read_json(folder / "icons.json")
    own = {name: code_points(points) for points, name in read_json(folder / "chars.json").items()}
    style = icons["prefix"]
    if not own and style in SAME_NAMES:
        own = {n: code_points(p) for p, n in read_json(folders[SAME_NAMES[style]] / "chars.json").items()}
    found: dict[str, str] = {}
    taken = set()
    # One drawing is one concept: an alias (often an older emoji's name) counts only if nothing else is known of it.
    for name in [*icons["icons"], *icons.get("aliases", {})]:
        alias = icons.get("aliases", {}).get(name, {})
        drawing = (alias.get("parent", name), alias.get("hFlip", False))
        points = own.get(name) or table.get(name)
        if points and points not in found and drawing not in taken:
            found[points] = svg(icons, name)
            taken.add(drawing)
    return found


def svg(icons: dict, name: str) -> str:
    """One icon as a document; an alias may mirror or turn its parent."""
    alias = icons.get("aliases", {}).get(name, {})
    icon = icons["icons"].get(name) or icons["icons"][alias["parent"]]
    width, height = (icon.get(side, icons.get(side, 16)) for side in ("width", "height"))
    body = icon["body"]
    if unknown := set(alias) - {"parent", "hFlip", "hidden"}:
        raise ValueError(f"{icons['prefix']}:{name} is transformed by {unknown}, which this script cannot draw")
    if alias.get("hFlip"):
        body = f'<g transform="translate({width} 0) scale(-1 1)">{body}</g>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" color="#000" '
        f'width="{RENDERED}" height="{RENDERED}" viewBox="0 0 {width} {height}">{body}</svg>'
    )


# --- drawing ----------------------------------------------------------------------------------------------


def render(document: str) -> np.ndarray:
    """SVG -> premultiplied uint8[64, 64, 4]: drawn at twice the size, then averaged 2 x 2."""
    drawn = bytes(resvg_py.svg_to_bytes(svg_string=document))
    pixels = np.asarray(Image.open(io.BytesIO(drawn), formats=("PNG",)).convert("RGBA"), dtype=np.float64)
    pixels[..., :3] *= pixels[..., 3:] / 255
    factor = RENDERED // STORED
    small = pixels.reshape(STORED, factor, STORED, factor, 4).mean(axis=(1, 3))
    return np.rint(small).astype(np.uint8)


def encode(premultiplied: np.ndarray) -> bytes:
    """Premultiplied pixels -> PNG with a palette of at most 64 straight-alpha colours."""
    pixels = premultiplied.reshape(-1, 4)
    colours, index = np.unique(pixels.copy().view(np.uint32)[:, 0], return_inverse=True)
    colours = colours.view(np.uint8).reshape(-1, 4).astype(np.float64)
    if len(colours) > COLOURS:
        colours, index = fewer_colours(premultiplied, pixels.astype(np.float64))
    palette = colours.copy()
    palette[:, :3] *= 255 / np.maximum(palette[:, 3:], 1)
    palette = np.clip(np.rint(palette), 0, 255).astype(np.uint8)
    image = Image.frombytes("P", (STORED, STORED), index.astype(np.uint8).tobytes())
    image.putpalette(palette.tobytes(), "RGBA")
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return file.getvalue()


def fewer_colours(premultiplied: np.ndarray, pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """64 colours (k-means from Pillow's octree) and indices; what is fully see-through stays exactly so.

    Distances are between premultiplied colours, so that a colour counts as much as it is seen.
    """
    octree = Image.fromarray(premultiplied).quantize(COLOURS - 1, method=Image.Quantize.FASTOCTREE)
    first = np.unique(np.asarray(octree.convert("RGBA")).reshape(-1, 4), axis=0).astype(np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a cluster that runs empty keeps its colour, which is what we want
        colours, _ = kmeans2(pixels[pixels[:, 3] > 0], first, iter=8, minit="matrix", missing="warn")
    index = np.where(pixels[:, 3] > 0, vq(pixels, colours)[0] + 1, 0)
    return np.concatenate([np.zeros((1, 4)), colours]), index


# --- writing ----------------------------------------------------------------------------------------------


def write(concepts: list[dict], rows: list[dict], folders: dict[str, Path], tarballs: dict[str, str]) -> None:
    """pictures.parquet, concepts.json, build.json (what it was all made from) and NOTICE.md."""
    OUT.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), OUT / "pictures.parquet", compression="zstd")
    order = ("id", "name", "keywords", "group", "subgroup", "withheld", "twin_of")
    lines = ",\n".join(json.dumps({key: concept[key] for key in order}) for concept in concepts)
    (OUT / "concepts.json").write_text(f'{{"concepts": [\n{lines}\n]}}\n', encoding="utf-8")
    build = {
        "packages_sha256": tarballs,
        "renderer": f"resvg_py {resvg_py.__version__}",
        "concepts": len(concepts),
        "pictures": {style: sum(row["style"] == style for row in rows) for style in SETS},
        "pictures_sha256": hashlib.sha256(b"".join(row["png"] for row in rows)).hexdigest(),
    }
    (OUT / "build.json").write_text(json.dumps(build, indent=1) + "\n", encoding="utf-8")
    about = {style: read_json(folders[style] / "info.json") for style in SETS}
    (OUT / "NOTICE.md").write_text(notice(about), encoding="utf-8")


def notice(about: dict[str, dict]) -> str:
    """Who drew what, under which licence, and what was changed; the licences' texts lie in the folder LICENSES."""
    lines = [
        f"| {style} | {own['name']} | {own['author']['name']}, {own['author']['url']} | "
        f"[{own['license']['spdx']}]({own['license']['url']}) | @iconify-json/{style} {SETS[style]} |"
        for style, own in about.items()
    ]
    return NOTICE.format(table="\n".join(lines), names=NAMES[0], version=NAMES[1], size=STORED, colours=COLOURS)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
