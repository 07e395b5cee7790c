"""Names for classes that are called by WordNet ids, as the folders of ImageNet-21K are: n00005787 is "benthos".

Sentences such as "a photo of a n00005787." mean nothing to a text tower, so ids that cannot be named are refused.
ImageNet's 1,000 ids are named by a list that comes along; all others by a local copy of WordNet 3.0.
"""

from collections.abc import Sequence

from openworld._errors import OpenworldError
from openworld.datasets.names.overlaps import imagenet_words
from openworld.datasets.names.wordnet import SYNSET_ID, WordNet, find_wordnet, meaning_of


def name_synsets(names: Sequence[str], wordnet: WordNet | None = None) -> tuple[str, ...]:
    """Return the names, with the first of WordNet's names in the place of every WordNet id."""
    ids = [name for name in names if SYNSET_ID.fullmatch(name)]
    listed = imagenet_words().by_meaning
    known = {name: listed[meaning_of(name)] for name in ids if meaning_of(name) in listed}
    unknown = [name for name in ids if name not in known]
    wordnet = wordnet or (find_wordnet() if unknown else None)
    if unknown and wordnet is None:
        raise OpenworldError(
            f"{len(unknown)} classes are called by WordNet ids, first {unknown[0]!r}, and WordNet 3.0 was not found to "
            "name them: install it (Debian's wordnet-base), name its folder in WNSEARCHDIR, or give the names in a "
            "text file, a name per line."
        )
    known |= {name: wordnet.names(meaning_of(name)) for name in unknown}
    return tuple(known[name][0] if name in known else name for name in names)
