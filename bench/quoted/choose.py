"""How the limits of `openworld.estimators.quote` are chosen on some worlds, to be judged on others.

    python bench/quoted/choose.py --cases CASES

CASES is made by cases.py. All worlds count alike. A case costs the points by which its number is off, thirty times
those beyond 25 that it is too high, and 3.5 where there is none. From the limits in force, each in turn takes the value
of its list that costs least, until none changes. How far the truth lies below and above a number by each rule is then
what 95 % of that rule's cases need (and 95 % of the bounds). Printed: the limits that are chosen without each world,
and those of all worlds together. A minute or two.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
from cases import evidence_of, read

from openworld.estimators.quote.decision import RULES, Evidence, Limits, decide

VALUES = {
    "moved": (0.0, 0.1, 0.2, 0.3),
    "taken": (0.6, 0.8, 0.9),
    "views": (0.05, 0.1, 0.15),
    "known_loss": (0.1, 0.15, 0.2, 0.25),
    "apart": (0.02, 0.04, 0.06, 0.08),
    "lost": (0.04, 0.06, 0.08, 0.1, 0.15),
    "seen": (0.1, 0.15, 0.2, 0.25, 0.5),
    "agreeing": (0.02, 0.05, 0.1),
}
FAR, TIMES, NONE = 0.25, 30.0, 0.035
HELD, BOUNDED = 0.95, 0.95
CASES = 400  # drawn of each world

Case = tuple[Evidence, float]


def cost(cases: Mapping[str, Sequence[Case]], limits: Limits) -> float:
    """Mean over worlds, in fractions."""
    means = []
    for own in cases.values():
        numbers = np.array([np.nan if (found := decide(seen, limits).accuracy) is None else found for seen, _ in own])
        off = numbers - np.array([true for _, true in own])
        costs = np.abs(off) + TIMES * np.maximum(0, off - FAR)
        means.append(np.where(np.isnan(off), NONE, costs).mean())
    return float(np.mean(means))


def chosen(cases: Mapping[str, Sequence[Case]]) -> Limits:
    """The limits that cost least on these worlds, and how far the truth lies from numbers by them."""
    limits, least, still = Limits(), np.inf, False
    while not still:
        still = True
        for name, values in VALUES.items():
            costs = {value: cost(cases, replace(limits, **{name: value})) for value in values}
            best = min(costs, key=costs.get)
            if costs[best] < least - 1e-6:
                limits, least, still = replace(limits, **{name: best}), costs[best], False
    return replace(limits, off=limits.off | _off(cases, limits))


def _off(cases: Mapping[str, Sequence[Case]], limits: Limits) -> dict[str, tuple[float, float]]:
    """Rule -> how far the truth lies below and above its numbers, or bounds, beyond what it says without that."""
    bare = replace(limits, off=dict.fromkeys(RULES, (0.0, 0.0)))
    below, above = {rule: [] for rule in limits.off}, {rule: [] for rule in limits.off}
    for own in cases.values():
        for seen, true in own:
            found = decide(seen, bare)
            if found.rule in below:
                low, high = (found.low, found.high) if found.accuracy is None else (found.accuracy, found.accuracy)
                below[found.rule].append(low - true)
                above[found.rule].append(true - high)
    found = {}
    for rule in limits.off:
        tail = (1 - (HELD if rule != "bounds" else BOUNDED)) / 2
        if len(below[rule]) >= 1 / tail:
            ends = (max(0.0, float(np.quantile(side[rule], 1 - tail))) for side in (below, above))
            found[rule] = tuple(round(end, 2) for end in ends)
    return found


def by_world(rows: Sequence[dict], seed: int = 0) -> dict[str, list[Case]]:
    """Shifted and unshifted cases of every world."""
    generator, found = np.random.default_rng(seed), {}
    for world in sorted({row["world"] for row in rows}):
        own = [row for row in rows if row["world"] == world]
        drawn = generator.permutation(len(own))[:CASES]
        found[world] = [(evidence_of(own[place]), own[place]["true"]) for place in drawn]
    return found


def left_out(rows: Sequence[dict]) -> dict[str, Limits]:
    """World -> limits that were chosen on all other worlds."""
    cases = by_world(rows)
    return {world: chosen({name: own for name, own in cases.items() if name != world}) for world in cases}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--cases", type=Path, required=True)
    given = arguments.parse_args()
    rows = read(given.cases)
    for world, limits in {"all": chosen(by_world(rows)), **left_out(rows)}.items():
        values = {each.name: getattr(limits, each.name) for each in fields(Limits) if each.name in (*VALUES, "off")}
        print(f"{'without ' if world != 'all' else ''}{world}: {values}", flush=True)


if __name__ == "__main__":
    main()
