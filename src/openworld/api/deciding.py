"""The threshold below which an image is flagged as new: `openworld decide`."""

from pathlib import Path
from typing import Annotated

from openworld.api.arguments import OutputFile, Report, Run
from openworld.api.finished_run import folder_of
from openworld.core.types import checked


@checked
def decide(
    run: Run,
    *,
    miss_rate: float | None = None,
    hit_rate: float | None = None,
    cost_miss: float | None = None,
    cost_unhit: float | None = None,
    cost_kept: float | None = None,
    cost_hit: float | None = None,
    new_share: float | None = None,
    learner: str = "",
    page: Annotated[Path | str | None, OutputFile(option="--page")] = None,
) -> Report:
    """Choose the threshold below which an image is flagged as new, and say what that misses and hits.

    ```
    openworld decide runs/demo --miss-rate 0.3  # at most 30 % missed
    openworld decide runs/demo --hit-rate 0.5   # at least half hit
    openworld decide runs/demo --cost-miss 1 --cost-unhit 5 --new-share 0.1
    ```

    Give one rule. The threshold is chosen on the run's validation images and measured on its test images.

    A base image is *missed* when it is flagged or misnamed; a new one is *hit* when it is flagged and named right.
    Rates come with intervals over the test images. The last lines are commands: `openworld predict` with the
    threshold, one for each seed, since each seed learned something else. A threshold holds for the names it was chosen
    with: more new names, and baseness falls.

    Args:
        run: a finished run of recognition, or its folder.
        miss_rate: rule: flag as many images as possible, of base images at most this share missed.
        hit_rate: rule: flag as few images as possible, of new images at least this share hit.
        cost_miss: rule: the least cost, where a base image that is flagged or misnamed costs this.
        cost_unhit: beside `cost_miss`: cost of a new image that is not flagged, or misnamed.
        cost_kept: cost of a base image that is kept and named right; default: 0.
        cost_hit: cost of a new image that is flagged and named right; default: 0.
        new_share: share of new images where it will run; default: that of the run.
        learner: only this learner, as the run calls it; default: all.
        page: also write the report page of the run, with the decision in it, into this file.

    Returns:
        A report: `.found.decisions` has each table and learner, `.found.commands(decision)` what to type next,
        and `.found.report_of_run()` is the report of the run with the decision in it.

    Raises:
        OpenworldError: no rule or two, a run without validation images, an unknown learner.
    """
    from openworld.evaluations.recognition.operating_point import OperatingSpec
    from openworld.evaluations.recognition.report import choose_thresholds
    from openworld.results import RunFolder

    costs = {"base_missed": cost_miss, "new_unhit": cost_unhit, "base_kept": cost_kept, "new_hit": cost_hit}
    rule = OperatingSpec(miss_rate=miss_rate, hit_rate=hit_rate, new_share=new_share, **costs)
    return choose_thresholds(RunFolder.read(folder_of(run)), rule, learner, None if page is None else Path(page))
