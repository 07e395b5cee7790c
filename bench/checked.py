"""What does it cost that every result checks its arguments?

Makes the records of which a run has the most, `Interval`, `Value` and `Result`, in four ways: with the type checks of
`openworld.core.types.checked`, without them (their own `__post_init__` stays), as pydantic's dataclasses, and as
pydantic's with strict types. Prints processor microseconds per record, the median of repeats that take turns, and the
ratio to the record without checks.

    pip install pydantic
    python bench/checked.py [--records 20000] [--repeats 7]
"""

import argparse
import statistics
import time
from collections.abc import Callable, Mapping

import pydantic
from pydantic.dataclasses import dataclass

from openworld.results import METRICS, Interval, Metric, Result, Value


def peers(strict: bool) -> Mapping[str, type]:
    """The same three records, without our refusals, as pydantic checks them."""
    kinds = dataclass(frozen=True, config=pydantic.ConfigDict(strict=strict, arbitrary_types_allowed=True))

    @kinds
    class PeerInterval:
        low: float
        high: float
        over: str
        n: int | None = None

    @kinds
    class PeerValue:
        value: int | float | None
        intervals: tuple[PeerInterval, ...] = ()
        reason: str = ""
        deviation: float | None = None

    @kinds
    class PeerResult:
        entity: str
        metric: pydantic.InstanceOf[Metric]
        value: PeerValue
        where: Mapping[str, int | float | str] = pydantic.Field(default_factory=dict)
        seeds: tuple[int, ...] = ()
        per_seed: tuple[float | None, ...] = ()

    return {"Interval": PeerInterval, "Value": PeerValue, "Result": PeerResult}


def unchecked(kind: type) -> Callable[..., object]:
    """How a record is made without its type checks."""
    init = kind.__init__.__wrapped__

    def make(*args: object) -> object:
        record = kind.__new__(kind)
        init(record, *args)
        return record

    return make


def calls(makers: Mapping[str, Callable[..., object]]) -> Mapping[str, Callable[[], object]]:
    """One call for each record, with the arguments that runs give them."""
    interval = makers["Interval"](0.41, 0.47, "images", 400)
    value = makers["Value"](0.44, (interval,))
    metric, where = METRICS["auroc"], {"dataset": "emoji-concepts", "level": 3}
    seeds, per_seed = (1, 2, 3), (0.43, 0.44, 0.45)
    return {
        "Interval": lambda: makers["Interval"](0.41, 0.47, "images", 400),
        "Value": lambda: makers["Value"](0.44, (interval,)),
        "Result": lambda: makers["Result"]("GMoP", metric, value, where, seeds, per_seed),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    ours = {"Interval": Interval, "Value": Value, "Result": Result}
    ways = {
        "unchecked": calls({name: unchecked(kind) for name, kind in ours.items()}),
        "checked": calls(ours),
        "pydantic": calls(peers(strict=False)),
        "pydantic, strict": calls(peers(strict=True)),
    }
    taken: dict[tuple[str, str], list[float]] = {}
    for _ in range(options.repeats):
        for way, makers in ways.items():
            for name, make in makers.items():
                started = time.process_time()
                for _ in range(options.records):
                    make()
                taken.setdefault((way, name), []).append((time.process_time() - started) / options.records * 1e6)
    medians = {place: statistics.median(times) for place, times in taken.items()}
    print(f"{'microseconds':18}" + "".join(f"{name:>18}" for name in ours))
    for way in ways:
        cells = [f"{medians[way, name]:.2f} (x {medians[way, name] / medians['unchecked', name]:.1f})" for name in ours]
        print(f"{way:18}" + "".join(f"{cell:>18}" for cell in cells))


if __name__ == "__main__":
    main()
