"""What is installed of openworld, and what it finds on this machine."""

import os
import platform
import re
from dataclasses import asdict, dataclass
from importlib.metadata import requires

from openworld import __version__
from openworld.report.table import Column, Row, Table
from openworld.results import TEXT
from openworld.runs.provenance import installed_version
from openworld.runs.scratch import VARIABLES

_REQUIREMENT = re.compile(r"([\w.-]+)[^;]*?>=([\w.]+)[^;]*(?:;.*extra == ['\"]([\w-]+)['\"])?")
DEVELOPERS = ("test", "docs", "build-world")
"""Extras that only work on openworld itself needs."""


@dataclass(frozen=True)
class Package:
    """A package: its least version, the extra that brings it ("" for what is always needed), the installed version."""

    name: str
    needed: str
    extra: str
    installed: str | None

    @property
    def ok(self) -> bool:
        """Whether it is there in a version that will do; what stands behind a version's numbers is left out."""
        ours, least = (
            re.findall(r"\d+", (version or "").partition("+")[0]) for version in (self.installed, self.needed)
        )
        return [*map(int, ours)] >= [*map(int, least)]

    @property
    def state(self) -> str:
        """What is to be done."""
        if self.ok:
            return "there"
        wanted = f"openworld[{self.extra}]" if self.extra else f"{self.name}>={self.needed}"
        return f"{'missing' if self.installed is None else 'too old'}: pip install '{wanted}'"


@dataclass(frozen=True)
class Installation:
    """Packages (those needed, then those of extras), devices, and {what: where it lies}."""

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
        rows = []
        for one in self.packages:
            rows.append(Row(one.name, (one.installed or "–", one.needed, one.extra or "everything", one.state)))
        return Table("packages", f"openworld {__version__}", "", "package", columns, tuple(rows), best="")

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
    requirements = filter(None, map(_REQUIREMENT.match, requires("openworld") or ()))
    packages = [Package(one[1], one[2], one[3] or "", installed_version(one[1])) for one in requirements]
    # Of several extras that bring a package: the one for models, or the one that bears its name.
    packages.sort(key=lambda package: (package.extra != "", package.extra != "models", package.extra != package.name))
    needed: dict[str, Package] = {}
    for package in packages:
        if package.extra not in DEVELOPERS:
            needed.setdefault(package.name, package)
    return Installation(tuple(needed.values()), _devices(), _places())


def _devices() -> tuple[str, ...]:
    try:
        import torch
    except ModuleNotFoundError:
        return ("unknown without torch",)

    gpus = (
        f"cuda:{number} ({torch.cuda.get_device_name(number)}, "
        f"{torch.cuda.get_device_properties(number).total_memory / 2**30:.0f} GiB)"
        for number in range(torch.cuda.device_count())
    )
    return ("cpu", *gpus, *(["mps"] if torch.backends.mps.is_available() else []))


def _places() -> dict[str, str]:
    from openworld.features import default_cache

    cache, data = default_cache(), os.environ.get("OPENWORLD_DATA")
    variables = [f"${name}" for name in VARIABLES if os.environ.get(name)]
    moved_by = f"{variables[0]} says where" if variables else "$OPENWORLD_CACHE moves it, or $XDG_CACHE_HOME"
    return {
        "Cache": f"{cache}{'' if cache.exists() else ', not there yet'} (openworld cache lists it; {moved_by})",
        "Data sets": data or "$OPENWORLD_DATA is not set; give --data, or a folder of your own",
    }
