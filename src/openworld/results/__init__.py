"""Results as data: numbers with their uncertainty as tidy rows, and tested differences; nothing is drawn here.

Value, Interval, Metric, METRICS    a number, its 95 % intervals, and how it is called and written
Result, Results                     one row; all rows of a run, as pyarrow table, CSV, JSON and Parquet
over_seeds, student, mean           the mean over seeds and Student's t interval
join_seeds                          the rows of a run's units as means over seeds
Comparison, correct_for_many        a minus b with its p-value after Holm's correction
standing, against_chance            who has the best number of several and what of that is shown; AUROCs against chance
RunFolder                           the verified records of a run, its spec and provenance
pair_results                        two runs side by side
"""

from openworld.metrics.estimate import LEVEL, SIGNIFICANCE
from openworld.results.comparison import Comparison, comparison_of, correct_for_many, significant
from openworld.results.join import join_seeds, mean, over_seeds, student
from openworld.results.results import Result, Results
from openworld.results.run_folder import Pair, RunFolder, pair_results, require_same_data
from openworld.results.standing import Standing, against_chance, standing
from openworld.results.value import DASH, METRICS, MINUS, TEXT, UNITS, Interval, Metric, Value, interval_of

__all__ = [
    "DASH",
    "LEVEL",
    "METRICS",
    "MINUS",
    "SIGNIFICANCE",
    "TEXT",
    "UNITS",
    "Comparison",
    "Interval",
    "Metric",
    "Pair",
    "Result",
    "Results",
    "RunFolder",
    "Standing",
    "Value",
    "against_chance",
    "comparison_of",
    "correct_for_many",
    "interval_of",
    "join_seeds",
    "mean",
    "over_seeds",
    "pair_results",
    "require_same_data",
    "significant",
    "standing",
    "student",
]
