"""The report of accuracy estimated without labels: tables, figures and one page, from records alone.

run = load_estimates(folder)                 arrays over methods, judged models and conditions
ErrorTable(run).cells[line][method]          mean absolute errors with bias, spread and interval
build_estimates(folder)                      the page; returns its path
export_estimates(run, "csv" | "estimates" | "json" | "markdown" | "latex"), terminal_estimates(run)
"""

from openworld.report.estimates.exports import export_estimates
from openworld.report.estimates.numbers import AVERAGE, Errors, ErrorTable
from openworld.report.estimates.page import build_estimates, render_estimates
from openworld.report.estimates.run import (
    Condition,
    EstimateRun,
    Method,
    Model,
    estimate_run,
    load_estimates,
)
from openworld.report.estimates.terminal import terminal_estimates
from openworld.report.estimates.verdict import estimate_verdict

__all__ = [
    "AVERAGE",
    "Condition",
    "ErrorTable",
    "Errors",
    "EstimateRun",
    "Method",
    "Model",
    "build_estimates",
    "estimate_run",
    "estimate_verdict",
    "export_estimates",
    "load_estimates",
    "render_estimates",
    "terminal_estimates",
]
