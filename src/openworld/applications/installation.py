"""What is installed of openworld, and what it finds on this machine."""

import os
import platform
import re
from dataclasses import asdict, dataclass
from importlib.metadata import requires

from openworld import __version__
from openworld._cache_folder import VARIABLES
from openworld.report.table import Column, Row, Table
from openworld.results import TEXT
from openworld.runs.provenance import installed_version

_REQUIREMENT = re.compile(r"([\w.-]+)[^;]*?>=([\w.]+)[^;]*(?:;.*extra == ['\"]([\w-]+)['\"])?")
DEVELOPERS = ("test", "docs", "build-world")
"""Extras that only work on openworld itself needs."""


@dataclass(frozen=True)
class Package:
    """A package that openworld uses.

    Args:
        name: as pip knows it.
        needed: the least version.
        extra: what brings it; "" for what openworld cannot do without.
        installed: its version; None where it is missing.
    """

    name: str
    needed: str
    extra: str
    installed: str | None

    @property
    def ok(self) -> bool:
        """Whether it is there in a version that will do."""
        return self.installed is not None and _numbers(self.installed) >= _numbers(self.needed)

    @property
    def state(self) -> str:
        """What is to be done."""
        if self.ok:
            return "there"
        wanted = f"openworld[{self.extra}]" if self.extra else f"{self.name}>={self.needed}"
        return f"{'missing' if self.installed is None else 'too old'}: pip install '{wanted}'"


@dataclass(frozen=True)
class Installation:
    """What is there.

    Args:
        packages: those needed, then those of extras.
        devices: what `--device auto` would take, and what else there is.
        places: {what: where}.
    """

    packages: tuple[Package, ...]
    devices: tuple[str, ...]
    places: dict[str, str]

    @property
    def whole(self) -> bool:
        """Whether all that openworld cannot do without is there."""
        return all(package.ok for package in self.packages if not package.extra)

    @property
    def table(self) -> Table:
        """A row per package."""
        columns = tuple(Column(TEXT, title, priority=2) for title in ("installed", "at least", "for", "state"))
        rows = tuple(
            Row(one.name, (one.installed or "–", one.needed, one.extra or "everything", one.state))
            for one in self.packages
        )
        return Table("packages", f"openworld {__version__}", "", "package", columns, rows, best="")

    @property
    def lines(self) -> tuple[str, ...]:
        """Devices and places."""
        system = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
        places = (f"{name}: {place}" for name, place in self.places.items())
        return (f"{system}, {os.cpu_count()} processor cores", f"Devices: {', '.join(self.devices)}", *places)

    def to_dict(self) -> dict:
        """Everything as plain values."""
        return {"openworld": __version__, "python": platform.python_version()} | asdict(self) | {"whole": self.whole}


def installation() -> Installation:
    """Look at the packages, the devices and the folders of this machine; nothing is changed."""
    found = map(_package, requires("openworld") or ())
    packages = tuple(package for package in found if package and package.extra not in DEVELOPERS)
    needed = sorted(packages, key=lambda package: bool(package.extra))
    return Installation(tuple(needed), _devices(), _places())


def _package(requirement: str) -> Package | None:
    found = _REQUIREMENT.match(requirement)
    return found and Package(found[1], found[2], found[3] or "", installed_version(found[1]))


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers of a version, without what stands behind them.

    >>> _numbers("2.13.0+cpu") > _numbers("2.6")
    True
    """
    return tuple(int(part) for part in re.match(r"[\d.]*", version)[0].strip(".").split(".") if part)


def _devices() -> tuple[str, ...]:
    if installed_version("torch") is None:
        return ("unknown without torch",)
    import torch

    gpus = (
        f"cuda:{number} ({torch.cuda.get_device_name(number)}, "
        f"{torch.cuda.get_device_properties(number).total_memory / 2**30:.0f} GiB)"
        for number in range(torch.cuda.device_count())
    )
    return ("cpu", *gpus, *(["mps"] if torch.backends.mps.is_available() else []))


def _places() -> dict[str, str]:
    from openworld.features import default_cache

    cache, data = default_cache(), os.environ.get("OPENWORLD_DATA")
    named = [f"${name}" for name in VARIABLES if os.environ.get(name)]
    moved_by = f"{named[0]} says where" if named else "$OPENWORLD_CACHE moves it, or $XDG_CACHE_HOME"
    return {
        "Cache": f"{cache}{'' if cache.exists() else ', not there yet'} (openworld cache lists it; {moved_by})",
        "Data sets": data or "$OPENWORLD_DATA is not set; give --data, or a folder of your own",
    }
