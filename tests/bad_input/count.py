"""Count what comes of bad values: `python tests/bad_input/count.py [ROOM ...]` prints a table, and every fault.

To compare with another version, set PYTHONPATH to its `src`.
"""

import sys
from collections import Counter

from enrolled import ROOMS
from judging import outcomes


def count(room: str) -> Counter:
    """Calls of one room by what came of them; prints faults."""
    calls, found = ROOMS[room].calls(), Counter()
    for name, call in calls.items():
        arguments = set()
        for outcome in outcomes(call):
            arguments.add(outcome.argument)
            found["calls"] += 1
            found["raw"] += outcome.raw
            found["wrong"] += outcome.fault is not None and not outcome.raw
            if outcome.fault is not None:
                print(f"{room}.{name}({outcome.argument}= {outcome.kind}): {outcome.fault}")
        found["arguments"] += len(arguments)
    return found + Counter(functions=len(calls))


if __name__ == "__main__":
    columns = ("functions", "arguments", "calls", "raw", "wrong")
    table = {room: count(room) for room in sys.argv[1:] or ROOMS}
    print(f"{'':12}" + "".join(f"{column:>11}" for column in columns))
    for room, found in table.items():
        print(f"{room:12}" + "".join(f"{found[column]:>11,}" for column in columns))
