"""What the command line says of accuracies estimated without labels: errors, and who lies nearest to the truth."""

from openworld import report
from openworld.report.estimates.exports import FORMS

__all__ = ["FORMS", "MORE", "TABLES", "build", "export", "load", "say"]

MORE = "Lines by methods: openworld report {folder} --table markdown"

load, build, export = report.load_estimates, report.build_estimates, report.export_estimates


def say(run, out) -> None:
    """Mean absolute errors, methods by lines, and the verdict's first sentence."""
    out.print("\nMean absolute error of the estimated accuracy", style="bold", markup=False)
    out.print(report.terminal_estimates(run))
    out.print(f"\n{report.estimate_verdict(run)[0]}", markup=False)


TABLES = {"text": say}
