"""A WordNet of a few nouns in the very format of WordNet 3.0's files, every synset at its true place."""

from pathlib import Path

ENTITY = 1740


def write_wordnet(
    folder: Path,
    synsets: list[tuple[str, ...]],
    irregular: dict[str, str] | None = None,
    above: dict[int, tuple[int, ...]] | None = None,
) -> list[int]:
    """Write index.noun, data.noun and noun.exc; returns the place of every synset.

    synsets: names of each, in the order in which a name's meanings are ranked. above: by number of a synset, the
    numbers of earlier ones that it is a kind of; "entity" where nothing is said.
    """
    data, places = b"  1 licence\n".ljust(ENTITY - 1) + b"\n" + b"00001740 03 n 01 entity 0 000 | all\n", []
    for number, names in enumerate(synsets):
        words = " ".join(f"{name} 0" for name in names)
        upward = [places[other] for other in (above or {}).get(number, ())] or [ENTITY]
        pointers = " ".join(f"@ {place:08d} n 0000" for place in upward)
        places.append(len(data))
        counted = f"{len(names):02x} {words} {len(upward):03d} {pointers}"
        data += f"{len(data):08d} 03 n {counted} | a thing\n".encode()
    meanings: dict[str, list[str]] = {"entity": ["00001740"]}
    for names, place in zip(synsets, places, strict=True):
        for name in names:
            meanings.setdefault(name.lower(), []).append(f"{place:08d}")
    lines = [f"{name} n {len(ids)} 1 @ {len(ids)} 1 {' '.join(ids)}  " for name, ids in sorted(meanings.items())]
    (folder / "data.noun").write_bytes(data)
    (folder / "index.noun").write_text("  1 licence\n" + "\n".join(lines) + "\n")
    (folder / "noun.exc").write_text("".join(f"{plural} {single}\n" for plural, single in (irregular or {}).items()))
    return places
