"""How the limits of `openworld.estimators.quote` were chosen, and what they are worth on families that chose nothing.

    python bench/quoted/choose.py --cases CASES

CASES is made by cases.py; models of seed 0 alone are looked at. A case costs the points by which the number is off,
three times those beyond 25 that it is too high, and 10 where there is none: a number costs no more than to be off by
what "cannot be told" means. From the limits in force, each in turn takes the value of its list that costs least, until
none changes. Done on all families of shifts but one, and tested on that one, family after family; and world after
world. Printed: the mean cost on what was left out, of the limits in force and of those chosen without it; what was
quoted before costs as much as it is off; and how often each value was chosen. Some ten minutes on one core.
"""

import argparse
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
from cases import evidence_of, read

from openworld.estimators.quote import Evidence, Limits, decide

VALUES = {
    "same": (0.06, 0.08, 0.1, 0.12, 0.15),
    "reshared": (0.0, 0.08, 0.1, 0.12, 0.15),
    "power": (1.0, 1.25, 1.5, 2.0),
    "apart": (0.02, 0.04, 0.06, 0.08, 0.12),
    "lost": (0.1, 0.15, 0.2, 0.25, 0.3),
    "above": (0.0, 0.05, 0.1, 0.15, 0.25),
}
FAR, TIMES, NONE = 0.25, 3.0, 0.1
CASES = 6_000  # drawn of all, evenly over families and kinds


def cost(seen: Evidence, true: float, limits: Limits) -> float:
    """Of one case, in fractions."""
    found = decide(seen, limits)
    if found.accuracy is None:
        return NONE
    off = found.accuracy - true
    return abs(off) + (TIMES - 1) * max(0.0, off - FAR)


def mean_cost(cases: list[tuple[Evidence, dict]], limits: Limits) -> float:
    """Over cases."""
    return float(np.mean([cost(seen, row["true"], limits) for seen, row in cases]))


def chosen(cases: list[tuple[Evidence, dict]]) -> Limits:
    """The limits that cost least, one after the other."""
    limits, least = Limits(), mean_cost(cases, Limits())
    while True:
        before = limits
        for name, values in VALUES.items():
            for value in values:
                other = replace(limits, **{name: value})
                here = mean_cost(cases, other)
                if here < least - 1e-12:
                    limits, least = other, here
        if limits == before:
            return limits


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--cases", type=Path, required=True)
    rows = [row for row in read(arguments.parse_args().cases) if row["model"].endswith("-0")]
    generator = np.random.default_rng(0)
    groups = Counter((row["family"], row["world"]) for row in rows)
    weights = np.array([1 / groups[row["family"], row["world"]] for row in rows])
    drawn = generator.choice(len(rows), min(CASES, len(rows)), replace=False, p=weights / weights.sum())
    cases = [(evidence_of(rows[place]), rows[place]) for place in drawn]
    for by in ("family", "world"):
        names = sorted({row[by] for _, row in cases})
        taken, costs = {name: Counter() for name in VALUES}, []
        for name in names:
            left_out = [case for case in cases if case[1][by] == name]
            limits = chosen([case for case in cases if case[1][by] != name])
            before = float(np.mean([abs(row["before"] - row["true"]) for _, row in left_out]))
            costs.append((mean_cost(left_out, Limits()), mean_cost(left_out, limits), before))
            here = ", ".join(f"{100 * one:.1f}" for one in costs[-1])
            print(f"without {name:18s} in force, chosen, before: {here}", flush=True)
            for limit in VALUES:
                taken[limit][getattr(limits, limit)] += 1
        print(
            f"mean over {len(names)}: in force, chosen, before:",
            *(f"{100 * one:.1f}" for one in np.mean(costs, axis=0)),
        )
        for limit, values in taken.items():
            print(f"  {limit}: " + ", ".join(f"{value:g} ({count})" for value, count in values.most_common()))


if __name__ == "__main__":
    main()
