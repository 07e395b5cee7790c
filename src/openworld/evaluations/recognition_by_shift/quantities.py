"""What is measured in recognition by shift, how it is called, and where it stands: views, axes, levels and cells."""

from openworld.results import METRICS, Metric

NEAR, SAME = "training appearance", "appearance of the new images"
"""The place "view": in which appearance base images are shown."""

BY_LEVEL = ((NEAR, "semantic"), (NEAR, "covariate"), (SAME, "covariate"))
"""Of which kind of base images, and along which axis, there are numbers by level."""

PARTS = {
    "openworld_auc": "OpenworldAUC",
    "base_accuracy": "base accuracy",
    "new_accuracy": "new accuracy",
    "auroc": "AUROC",
}
"""A quantity -> what tables call it."""

OPEN_WORLD = {**PARTS, "new_share": "share of new"}
"""What is estimated of a level of appearance without labels, and what tables call it."""

AUC = METRICS["openworld_auc"]
LEVEL_START = Metric("level_start", "level starts at degree", "fraction", 2, 0, (0.0, 2.0))
ALARM = Metric("alarm", "alarm", better=0)
"""Share of the seeds in which the two signs say that no estimate is to be trusted."""

NEW, BASE, POOL = "new images", "base images of the pool", "images of the pool"
"""What numbers of images in levels and cells are of; the last are base and new ones together."""

VALIDATION, CELLS = "validation images", "mean of the cells"  # the place "images" of accuracies

NO_ESTIMATE = "the cell is N/A, or nothing can be said of it"


def estimated(part: str) -> Metric:
    return Metric(f"estimated_{part}", OPEN_WORLD[part], better=0)


def off_by(part: str, bias: bool = False) -> Metric:
    """Return the metric of the mean absolute error of a part, or of its bias."""
    if bias:
        return Metric(f"{part}_bias", f"{OPEN_WORLD[part]}, bias", "points", better=0, bounds=(-1.0, 1.0))
    return Metric(f"{part}_error", OPEN_WORLD[part], better=-1)


def cell(row: int, column: int) -> dict[str, int]:
    return {"covariate_level": row, "semantic_level": column}
