"""Over many draws of a source: whether DoC's interval holds where nothing has shifted, and which references pass.

    python bench/quoted/draws.py --pool POOL [--draws 80]

The images of `source` and `same--unseen` of a model are one law; source and target are drawn from them without overlap.
Printed for every world and size, over its models: share of draws in which the accuracy of the target lies above the
upper end that `openworld estimate` gives a number without a shift (5 % by design), and below the lower end that chance
alone would give it; and the share of sources that accept the reference of another kind, and one that is not independent
(the same recipe, another seed). Three minutes on one core.
"""

import argparse
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pool
from cases import outputs

from openworld.estimators import check_reference
from openworld.estimators.engine.temperature import confidences_of, temperature_of
from openworld.estimators.quote.decision import ABOVE, Z, confidence_spread, held

SIZES = ((200, 200), (500, 250), (1000, 500))


def draw(arrays: dict[str, np.ndarray], sizes: tuple[int, int], generator: np.random.Generator) -> list[float]:
    """Above, below, and whether either reference is accepted, of one draw; NaN where the model lacks that reference."""
    rows = generator.permutation(len(arrays["labels"]))
    source, target = (outputs(arrays, part, "none") for part in (rows[: sizes[0]], rows[sizes[0] : sum(sizes)]))
    temperature = temperature_of(source).value
    moved = confidences_of(target, temperature).mean() - confidences_of(source, temperature).mean()
    doc, spread = held(1 - source.mistakes / source.n + moved), confidence_spread(source, target.n)
    true = 1 - target.mistakes / target.n
    found = [true > held(doc + ABOVE * spread) + 1e-9, true < held(doc - Z * spread) - 1e-9]
    for kind in ("reference", "reference_kin"):
        other = arrays.get(kind)
        found.append(
            np.nan if other is None else not check_reference(replace(source, reference=other[rows[: sizes[0]]])).reasons
        )
    return [float(one) for one in found]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--pool", type=Path, required=True)
    arguments.add_argument("--draws", type=int, default=80)
    given, found = arguments.parse_args(), defaultdict(list)
    for folder in sorted(given.pool.glob("*/*")):
        sets = pool.sets(folder)
        first, second = sets["source"], sets["same--unseen"]
        arrays = {name: np.concatenate([first[name], second[name]]) for name in first if name != "classnames"}
        for sizes in SIZES:
            if sum(sizes) <= len(arrays["labels"]):
                generator = np.random.default_rng(sizes[0])
                drawn = [draw(arrays, sizes, generator) for _ in range(given.draws)]
                found[folder.parent.name, sizes[0]] += drawn
                found["all", sizes[0]] += drawn
    print("| world | source | draws | above | below, by chance | reference accepted | not independent, accepted |")
    print("|" + "---|" * 7)
    for (world, size), drawn in sorted(found.items()):
        shares = (f"{100 * share:.1f} %" for share in np.nanmean(drawn, axis=0))
        print(f"| {world} | {size} | {len(drawn):,} | {' | '.join(shares)} |")


if __name__ == "__main__":
    main()
