"""What is run to hold zero-shot CLIP against the printed numbers that are deterministic, or nearly so.

OpenworldAUC: every data set once. OpenPL: over ten orders of the classes, because the paper's three are not published.
Nothing is learned, so that one shot and no view is all that is encoded of training pictures.
"""

from dataclasses import dataclass, replace

from openworld._errors import OpenworldError
from openworld.datasets.checking import require_places
from openworld.reproduction.acceptance_cells import EMERGING, METHOD, SHIFTS
from openworld.reproduction.changes import Changes
from openworld.reproduction.chosen_data import choose_tables, find_titles
from openworld.reproduction.plan import PAPERS, ReproductionPlan, find_table, plan
from openworld.reproduction.series import is_there
from openworld.reproduction.settings import ReproductionSetup

GROUPS = {"openworldauc": (("8-9",), ("10",)), "openpl": (EMERGING, SHIFTS)}
"""Paper -> groups of tables; a group's runs need no data set of another group's."""

SEEDS = {"openworldauc": (1,), "openpl": tuple(range(1, 11))}
FEWEST_ORDERS = 3
REMARK = "Zero-shot CLIP alone, held against printed numbers."


STAGES = ("images", "names", "sentences", "preprocessing", "weights", "metric")
"""What a number passes through, in this order."""


@dataclass(frozen=True)
class Departure:
    """A stage that is not as it should be.

    Args:
        stage: of STAGES.
        datasets: that it is of, as the paper calls them; () for all.
        what: what was found and what was expected.
    """

    stage: str
    datasets: tuple[str, ...]
    what: str

    def concerns(self, dataset: str) -> bool:
        """Whether the numbers of a data set rest on it."""
        return not self.datasets or dataset in self.datasets


def acceptance_plan(paper: str, setup: ReproductionSetup) -> ReproductionPlan:
    """The runs of zero-shot CLIP whose numbers `openworld.reproduction.acceptance_cells` compares with printed ones.

    Args:
        paper: "openworldauc" or "openpl".
        setup: downloaded data; no methods, or CLIP; seeds () for one, or ten orders of classes.

    Raises:
        OpenworldError: another paper or method, embedded data, too few orders, added learners, shots or views.
    """
    _require_acceptable(paper, setup)
    changes = replace(setup.changes, shots=1, views=0)
    clip_only = replace(setup, learners=(METHOD,), seeds=setup.seeds or SEEDS[paper], changes=changes)
    plans = [plan(paper, tables, clip_only) for tables in _groups(paper, setup)]
    runs = tuple(run for part in plans for run in part.runs)
    tables = tuple(number for part in plans for number in part.tables)
    return ReproductionPlan(paper, plans[0].setup, runs, tables, remarks=(REMARK, *setup.changes.sentences))


def _groups(paper: str, setup: ReproductionSetup) -> tuple[tuple[str, ...], ...]:
    """The groups of tables that have any of the data sets asked for."""
    module = PAPERS[paper]
    titles = find_titles(paper, module.spellings(setup), setup.datasets)
    return tuple(
        group
        for group in GROUPS[paper]
        if choose_tables([find_table(paper, number) for number in group], titles, named=True).tables
    )


def without_missing(reproduction: ReproductionPlan) -> tuple[ReproductionPlan, tuple[str, ...]]:
    """The runs whose data sets are there, and the data sets without which the others are left out.

    Raises:
        OpenworldError: where no data set is there.
    """
    missing = {name for name in reproduction.downloads if not is_there(name, reproduction.setup.data)}
    runs = tuple(run for run in reproduction.runs if not missing & {image_set.dataset for image_set in run.data})
    if not runs:
        require_places(reproduction.downloads, reproduction.setup.data)
    return replace(reproduction, runs=runs), tuple(name for name in reproduction.downloads if name in missing)


def _require_acceptable(paper: str, setup: ReproductionSetup) -> None:
    if paper not in GROUPS:
        raise OpenworldError(f"--accept holds zero-shot CLIP against {' and '.join(GROUPS)}; {paper} has no such rows.")
    if setup.embedded:
        raise OpenworldError("--accept needs the papers' own images, which are not embedded; give --data FOLDER.")
    other = [learner for learner in setup.learners if learner.casefold() not in (METHOD.casefold(), "zero-shot")]
    if other:
        raise OpenworldError(
            f"--accept is of {METHOD}, whose numbers no seed changes; {', '.join(other)} learns. Leave --learners out."
        )
    if setup.changes != Changes(settings=setup.changes.settings) or setup.quick > 1:
        raise OpenworldError("--accept takes no --add, --shots, --views or --quick: CLIP learns nothing.")
    if paper == "openpl" and 0 < len(setup.seeds) < FEWEST_ORDERS:
        raise OpenworldError(
            f"--accept of openpl needs at least {FEWEST_ORDERS} seeds, which are orders of the classes, to tell how "
            f"much chance there is in them; {len(setup.seeds)} given."
        )
