"""Make the lists of overlapping classes that come with the package, from class names and WordNet 3.0.

    python tools/list_overlaps.py [--wordnet DIR]

Names of the data sets to download lie beside the lists, a file each, as their split files have them; those of the
embedded world come with the package. Debian's package wordnet-base is WordNet 3.0. Same inputs, same bytes.
"""

import argparse
import csv
import io
from pathlib import Path

from openworld._errors import OpenworldError
from openworld.datasets.names.class_names import ClassNames, class_names
from openworld.datasets.names.overlaps import LISTS, WORDS, as_csv, list_name, overlaps_with
from openworld.datasets.names.wordnet import WordNet, find_wordnet, meaning_of

GOAL = Path(__file__).parents[1] / "src" / "openworld" / "datasets" / "lists"
NAMES = GOAL / "class_names"


def names_of(dataset: str) -> ClassNames:
    """The class names of a data set, from the file here where there is one."""
    file = NAMES / f"{dataset}.txt"
    return class_names(str(file) if file.is_file() else dataset)


def words_csv(nouns: WordNet) -> str:
    """What WordNet calls every class of ImageNet, as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("wordnet_id", "names"))
    writer.writerows((one, "|".join(nouns.names(meaning_of(one)))) for one in names_of("imagenet").wordnet_ids)
    return text.getvalue()


def list_csv(name: str, base: str) -> str:
    """The list of an outer data set, as CSV."""
    return as_csv(overlaps_with(names_of(name).names, names_of(base)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wordnet", help="folder of index.noun and data.noun; default: where they usually lie")
    nouns = find_wordnet(parser.parse_args().wordnet)
    if nouns is None:
        raise OpenworldError("WordNet 3.0 was not found; install it (Debian: wordnet-base) or give --wordnet.")
    GOAL.mkdir(exist_ok=True)
    (GOAL / WORDS).write_text(words_csv(nouns), encoding="utf-8")
    for base, outer in LISTS.items():
        for name in outer:
            (GOAL / list_name(name, base)).write_text(list_csv(name, base), encoding="utf-8")


if __name__ == "__main__":
    main()
