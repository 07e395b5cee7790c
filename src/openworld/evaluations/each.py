"""A spec that is carried out several times: once for every table of `[[each]]`, which says what is otherwise there."""

import re
from collections.abc import Mapping
from typing import Any

from openworld.core.errors import OpenworldError
from openworld.evaluations import read_protocol
from openworld.evaluations.class_lists import require_data

EACH = "each"
_NAME = re.compile(r"[\w][\w.,+-]*")


def expand(given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the specs of a spec with `[[each]]`, by name.

    Args:
        given: a spec as read; every table of `each` has a `name`, which its run's folder gets, and fields that stand in
            the place of those of the spec, whole.

    >>> given = {"seeds": [1], "each": [{"name": "dtd", "dataset": "dtd"}, {"name": "pets", "dataset": "oxford_pets"}]}
    >>> expand(given)["pets"]
    {'seeds': [1], 'dataset': 'oxford_pets'}
    """
    tables, shared = given[EACH], {key: value for key, value in given.items() if key != EACH}
    if not isinstance(tables, list | tuple) or not tables or not all(isinstance(table, Mapping) for table in tables):
        raise OpenworldError(
            f"{EACH} came as {tables!r}, expected tables [[{EACH}]] with a name and what is otherwise."
        )
    specs: dict[str, dict[str, Any]] = {}
    for place, table in enumerate(tables):
        name = table.get("name")
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise OpenworldError(
                f"{EACH}[{place}] has the name {name!r}; give each a name of letters, digits and . , + - _: its run's "
                "folder gets it."
            )
        if name in specs:
            raise OpenworldError(f"two tables of {EACH} are called {name!r}; names tell the runs apart.")
        specs[name] = shared | {key: value for key, value in table.items() if key != "name"}
    return specs


def read_each(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the checked specs of a spec with `[[each]]`, by name; their data are there."""
    specs = {}
    for name, own in expand(given).items():
        try:
            specs[name] = read_protocol(own)
            require_data(specs[name])
        except OpenworldError as error:
            raise OpenworldError(f"{EACH} {name!r}: {error}") from error
    return specs
