"""What comes of holding zero-shot CLIP against printed numbers: its cells, and which stage departs."""

from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from openworld._csv import csv_text
from openworld.evaluations.runtime import Machine
from openworld.papers.results import PaperRun
from openworld.reproduction.acceptance import STAGES, Departure
from openworld.reproduction.acceptance_cells import CELLS, AcceptanceCell, acceptance_rows
from openworld.reproduction.acceptance_sentences import other_sentences
from openworld.reproduction.acceptance_stages import departures
from openworld.reproduction.plan import ReproductionPlan
from openworld.runs.atomic import write_file


@dataclass(frozen=True)
class Acceptance:
    """The numbers of zero-shot CLIP against the printed ones.

    Args:
        cells: the numbers.
        departures: stages that are not as they should be.
        other_sentences: (data set, what other sentences around its names would change).
    """

    cells: tuple[AcceptanceCell, ...]
    departures: tuple[Departure, ...]
    other_sentences: tuple[tuple[str, str], ...]

    @property
    def accepted(self) -> bool:
        """Whether every number is within its tolerance."""
        return all(cell.within for cell in self.cells)

    @property
    def sentences(self) -> Iterator[str]:
        """How many numbers are within, what every stage is like, and which stages explain the numbers that depart."""
        within = sum(cell.within for cell in self.cells)
        yield f"{within} of {len(self.cells)} numbers of zero-shot CLIP are within their tolerances."
        yield from (f"Departs in {departure.stage}: {departure.what}." for departure in self.departures)
        departing = {departure.stage for departure in self.departures}
        if sound := [stage for stage in STAGES if stage not in departing]:
            yield f"As they should be: {', '.join(sound)}."
        yield from map(self._explain, dict.fromkeys(cell.dataset for cell in self.cells if not cell.within))
        yield from (f"{dataset}: {what}." for dataset, what in self.other_sentences)

    def _explain(self, dataset: str) -> str:
        metrics = ", ".join(cell.metric for cell in self.cells if cell.dataset == dataset and not cell.within)
        stages = dict.fromkeys(departure.stage for departure in self.departures if departure.concerns(dataset))
        if stages:
            return f"{dataset} ({metrics}): departs, and so does {' and '.join(stages)}."
        return (
            f"{dataset} ({metrics}): departs, and no stage does: images of the same number may be others, or the "
            "paper's sentences, names or weights may not be those it states."
        )

    def write(self, folder: Path) -> Path:
        """Write the numbers as tables/acceptance.csv; return its path."""
        rows, path = acceptance_rows(self.cells), folder / "tables" / "acceptance.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, csv_text(tuple(rows[0]), [list(row.values()) for row in rows]).encode())
        return path

    def to_dict(self) -> dict:
        """Return plain values for JSON."""
        content = {"accepted": self.accepted, "numbers": acceptance_rows(self.cells)}
        return content | {"departures": list(map(asdict, self.departures)), "other_sentences": self.other_sentences}


def accept(plan: ReproductionPlan, folder: Path, failed: Collection[str], machine: Machine) -> Acceptance:
    """Hold the finished runs of an acceptance plan against the printed numbers.

    Args:
        plan: of `acceptance_plan`.
        folder: of its runs.
        failed: names of runs that are left out.
        machine: where they ran.
    """
    runs = [run for run in plan.runs if run.name not in failed]
    cells = tuple(CELLS[plan.paper]([PaperRun(folder / run.name, run.datasets, run.methods) for run in runs]))
    departing = departures(runs, folder, plan.setup.backbone, machine.device)
    return Acceptance(cells, departing, tuple(other_sentences(runs, cells, machine)))
