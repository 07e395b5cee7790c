"""The world `docstrings` of the pool: of which Python package is this paragraph of a docstring?

A class is a package that is installed (`PACKAGES`, fifteen at least); a text is a paragraph of a docstring, of 12 to 80
words, without the package's own name. Files are dealt to training, references and test, so that no file serves two.
Shifted sets of eight families: the paragraphs misspelt, with words left out, cut, joined, in capitals or other
letters, with words of other packages; and other texts of the test files: comments, error messages, names in the code.

    linear-*    judged: logistic regression on hashed words and pairs of words
    bayes-*     judged: multinomial naive Bayes on counts of words, far too sure
    network-*   judged: a hidden layer on hashed groups of letters, fitted until nothing is left to learn
    reference        15 nearest neighbours among directions of groups of letters, on files of its own
    reference_weak   the length of the text and the shares of capitals, digits and signs

    python bench/quoted/texts.py --out POOL [--seeds 0,1]
"""

import ast
import re
import string
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from importlib.util import find_spec
from pathlib import Path

import classifiers
import numpy as np
import pool
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

Shift = Callable[[Sequence[str], np.random.Generator], list[str]]

PACKAGES = [
    "asyncio", "datasets", "fontTools", "huggingface_hub", "hypothesis", "IPython", "matplotlib", "mpmath",
    "networkx", "numpy", "onnx", "pandas", "prompt_toolkit", "pyarrow", "pydantic", "pygments", "ray", "scipy",
    "setuptools", "sklearn", "statsmodels", "sympy", "torch", "torchmetrics", "tornado",
]  # fmt: skip
FILES, TEXTS = 240, 420  # files that are read of a package, and texts of a kind that are kept of it
COUNTS = {"train": 4_500, "reference": 2_000, "source": 1_200, "same--unseen": 1_200}
SHIFTED = 600
LEET = str.maketrans("aeiost", "431057")
GREEK = str.maketrans("abdegiklmnoprstuz", "αβδεγικλμνοπρστυζ")


def paragraphs(path: Path, package: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, text) of a file: docstring, comment, error or names; the package's own name is left out."""
    code = path.read_text(encoding="utf-8", errors="ignore")
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            kept = [("docstring", part) for part in re.split(r"\n\s*\n", ast.get_docstring(node) or "")]
        elif isinstance(node, ast.Raise):
            said = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
            kept = [("error", " ".join(part for part in said if isinstance(part, str)))]
        else:
            continue
        if isinstance(node, ast.FunctionDef):
            kept.append(("names", " ".join(part.id for part in ast.walk(node) if isinstance(part, ast.Name))))
        yield from ((kind, text) for kind, words in kept if (text := _plain(words, package)))
    for comment in re.findall(r"(?:^[ \t]*#.*\n)+", code, flags=re.MULTILINE):
        if text := _plain(comment.replace("#", " "), package):
            yield "comment", text


def _plain(words: str, package: str) -> str:
    short = re.sub(package, "", " ".join(words.split()[:80]), flags=re.IGNORECASE)
    return short if len(short.split()) >= 12 else ""


@lru_cache
def library(packages: tuple[str, ...] = tuple(PACKAGES), files: int = FILES) -> dict[str, list[list[tuple[str, str]]]]:
    """Return the texts of every file of the packages that are installed and have enough, by package."""
    found = {}
    for package in packages:
        spec = find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            continue
        paths = sorted(Path(spec.submodule_search_locations[0]).rglob("*.py"))
        order = np.random.default_rng(0).permutation(len(paths))[:files]
        texts = [list(paragraphs(paths[place], package)) for place in order if "test" not in str(paths[place])]
        found[package] = [file for file in texts if file]
    return {package: texts for package, texts in found.items() if sum(map(len, texts)) >= TEXTS}


def of_letters(texts: Sequence[str], draws: np.random.Generator, *, share: float) -> list[str]:
    """Replace a share of the letters by others."""
    letters = np.array(list(string.ascii_lowercase))
    return ["".join(draws.choice(letters) if draws.random() < share else sign for sign in text) for text in texts]


def without(texts: Sequence[str], draws: np.random.Generator, *, share: float) -> list[str]:
    """Leave out a share of the words; the first stays."""
    words = [text.split() for text in texts]
    return [" ".join(w for place, w in enumerate(one) if place == 0 or draws.random() >= share) for one in words]


def mixed(texts: Sequence[str], draws: np.random.Generator, *, share: float) -> list[str]:
    """Replace a share of the words by words of other texts of the set."""
    others = " ".join(texts).split()
    return [" ".join(draws.choice(others) if draws.random() < share else w for w in text.split()) for text in texts]


SHIFTS: dict[str, Shift] = (
    {f"spelling--{share:g}": partial(of_letters, share=share) for share in (0.03, 0.1, 0.25)}
    | {f"missing--{share:g}": partial(without, share=share) for share in (0.2, 0.5, 0.75)}
    | {f"mixed--{share:g}": partial(mixed, share=share) for share in (0.2, 0.4, 0.6)}
    | {f"cut--{n}-words": lambda texts, _, n=n: [" ".join(text.split()[:n]) for text in texts] for n in (12, 6, 3)}
    | {
        "letters--upper": lambda texts, _: [text.upper() for text in texts],
        "letters--leet": lambda texts, _: [text.translate(LEET) for text in texts],
        "letters--greek": lambda texts, _: [text.translate(GREEK) for text in texts],
        "letters--without-signs": lambda texts, _: [re.sub(r"[^a-zA-Z ]", " ", text) for text in texts],
        "length--long-words-only": lambda texts, _: [" ".join(sorted(text.split(), key=len)[-5:]) for text in texts],
    }
)


def image_sets(seed: int, packages: dict, counts: dict[str, int], shifted: int) -> dict[str, tuple[list, NDArray]]:
    """Return texts and labels: training, references, source, unshifted target and every shifted set."""
    draws = np.random.default_rng(seed)
    texts = {(part, kind): [] for part in range(4) for kind in ("docstring", "comment", "error", "names")}
    for label, files in enumerate(packages.values()):
        for place, file in enumerate(draws.permutation(len(files))):
            for kind, text in files[file]:
                texts[place % 4, kind].append((text, label))

    def drawn(pairs: list[tuple[str, int]], count: int) -> tuple[list[str], NDArray]:
        """Draw as many of every class as there can be."""
        labels = np.array([label for _, label in pairs])
        shares = 1 / np.bincount(labels)[labels]
        rows = draws.choice(len(pairs), min(count, len(pairs)), replace=False, p=shares / shares.sum())
        return [pairs[row][0] for row in rows], labels[rows]

    tested = texts[2, "docstring"] + texts[3, "docstring"]
    held, labels = drawn(tested, counts["source"] + counts["same--unseen"])
    half = len(held) // 2
    sets = {
        "train": drawn(texts[0, "docstring"], counts["train"]),
        "reference": drawn(texts[1, "docstring"], counts["reference"]),
        "source": (held[:half], labels[:half]),
        "same--unseen": (held[half:], labels[half:]),
    }
    base, base_labels = held[half:][:shifted], labels[half:][:shifted]
    for number, (name, shift) in enumerate(SHIFTS.items()):
        sets[name] = shift(base, np.random.default_rng([seed, 2, number])), base_labels
    twins = [next(i for i in draws.permutation(len(base)) if base_labels[i] == label) for label in base_labels]
    sets["length--two-texts"] = [f"{base[i]} {base[j]}" for i, j in enumerate(twins)], base_labels
    for kind in ("comment", "error", "names"):
        sets[f"kind--{kind}"] = drawn(texts[2, kind] + texts[3, kind], shifted)
    return sets


RECIPES = {
    "linear": lambda seed: make_pipeline(
        HashingVectorizer(n_features=2**14, ngram_range=(1, 2)), LogisticRegression(C=20, max_iter=200)
    ),
    "bayes": lambda seed: make_pipeline(
        HashingVectorizer(n_features=2**15, alternate_sign=False, norm=None), MultinomialNB(alpha=0.02)
    ),
    "network": lambda seed: make_pipeline(
        TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3), max_features=1_500, lowercase=False),
        MLPClassifier((64,), alpha=0, max_iter=60, random_state=seed),
    ),
}


def looks(texts: Sequence[str]) -> NDArray:
    """Return length, and shares of capitals, digits and signs."""
    tests = (str.isupper, str.isdigit, lambda sign: not sign.isalnum())
    counts = [[len(text), *(sum(map(test, text)) / (len(text) + 1) for test in tests)] for text in texts]
    return np.array(counts)


def build(seed: int, files: dict | None = None, counts: dict[str, int] = COUNTS, shifted: int = SHIFTED):
    """Return the fitted world of a seed."""
    files = files or library()
    sets = image_sets(seed, files, counts, shifted)
    (texts, labels), (known, kinds) = sets.pop("train"), sets.pop("reference")
    models = {name: classifiers.judged(recipe, texts, labels, seed) for name, recipe in RECIPES.items()}
    reference = make_pipeline(
        TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 4), max_features=20_000, sublinear_tf=True),
        TruncatedSVD(min(120, len(known) - 1), random_state=seed),
        KNeighborsClassifier(15, weights="distance", metric="cosine"),
    ).fit(known, kinds)
    weak = make_pipeline(StandardScaler(), LogisticRegression()).fit(looks(known), kinds)
    return pool.World(list(files), sets, models, classifiers.reader(reference), classifiers.reader(weak, looks))


def main(arguments: list[str] | None = None) -> None:
    pool.main(__doc__, {"docstrings": build}, arguments)


if __name__ == "__main__":
    main()
