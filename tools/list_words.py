"""Write what WordNet 3.0 calls ImageNet's classes, the words by which overlaps of data sets are found.

    python tools/list_words.py [--wordnet DIR]

Debian's package wordnet-base is WordNet 3.0. Same inputs, same bytes.
"""

import argparse
import csv
import io
from pathlib import Path

from openworld.core.errors import OpenworldError
from openworld.datasets.names.class_names import WORDS, listed_names
from openworld.datasets.names.wordnet import find_wordnet, meaning_of

GOAL = Path(__file__).parents[1] / "src" / "openworld" / "datasets" / "lists"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wordnet", help="folder of index.noun and data.noun; default: where they usually lie")
    nouns = find_wordnet(parser.parse_args().wordnet)
    if nouns is None:
        raise OpenworldError("WordNet 3.0 was not found; install it (Debian: wordnet-base) or give --wordnet.")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("wordnet_id", "names"))
    writer.writerows((one, "|".join(nouns.names(meaning_of(one)))) for one in listed_names("imagenet").wordnet_ids)
    (GOAL / WORDS).write_text(text.getvalue(), encoding="utf-8")


if __name__ == "__main__":
    main()
