"""What the command line says of accuracies estimated without labels: errors, and who lies nearest to the truth."""

from openworld.evaluations.accuracy_estimation.exports import FORMS, export_estimates
from openworld.evaluations.accuracy_estimation.page import build_estimates
from openworld.evaluations.accuracy_estimation.run import load_estimates
from openworld.evaluations.accuracy_estimation.terminal import terminal_estimates
from openworld.evaluations.accuracy_estimation.verdict import estimate_verdict

__all__ = ["FORMS", "MORE", "TABLES", "build", "export", "load", "say"]

MORE = "Lines by methods: openworld report {folder} --table markdown"

load, build, export = load_estimates, build_estimates, export_estimates


def say(run, out) -> None:
    """Mean absolute errors, methods by lines, and the verdict's first sentence."""
    out.print("\nMean absolute error of the estimated accuracy", style="bold", markup=False)
    out.print(terminal_estimates(run))
    out.print(f"\n{estimate_verdict(run)[0]}", markup=False)


TABLES = {"text": say}
