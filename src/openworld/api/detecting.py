"""Compare detectors of what is out of distribution: what `openworld detect` does."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openworld.api.progress import observing
from openworld.api.tables import columns_of
from openworld.report.command_report import CommandReport


def detect(
    scores: Any,
    *,
    larger_out: bool = False,
    detector: Sequence[str] = (),
    replicates: int = 200,
    out: Path | str | None = None,
    seed: int = 0,
    quiet: bool = False,
) -> CommandReport:
    """Tell which detector sees what is out of distribution, on sets of one's own.

    Args:
        scores: a file, or columns (a mapping of arrays, a table of pandas, polars or pyarrow): `group` ("id", "near",
            "far", "covariate", "full-spectrum"), `set`, perhaps `part`, `image` and `cluster`, and a column of scores
            per detector, larger = more in-distribution.
        larger_out: scores are larger for what is out of distribution.
        detector: only these.
        replicates: of the bootstrap that gives FPR and AUPR their intervals; 0 for none.
        out: folder that keeps page, numbers and scores; None for none.
        quiet: show no progress.

    Returns:
        A report that shows its answer; `.results` are its numbers and tests.

    Raises:
        OpenworldError: scores that will not do, as the message says.

    >>> mine = {"group": ["id", "id", "far", "far"], "MSP": [0.9, 0.6, 0.7, 0.2]}
    >>> detect(mine, replicates=0, quiet=True).results.value("MSP", "auroc", group="far").value
    0.75
    """
    from openworld.applications.detect import command
    from openworld.applications.score_files import scores_of

    options = command.DetectOptions(replicates, seed, None if out is None else Path(out))
    given = str(scores) if isinstance(scores, str | Path) else scores_of(columns_of(scores), "the table")
    with observing(quiet=quiet) as observer:
        return command.detect_scores(
            given,
            larger_out=larger_out,
            detector=tuple(detector),
            options=options,
            observer=observer,
            made="openworld.detect",
        )
