"""The numbers that four papers printed, and what their tables are.

published_numbers(paper, table)    every printed number, as printed
published_tables(paper)            what each table shows, on what, read from which kind of run (`TABLES`)
MISPRINTS                          where the printed numbers contradict one another
"""

from openworld.papers.numbers import (
    AVERAGE,
    AVERAGED,
    KIND_OF_TASK,
    METRICS,
    MISPRINTS,
    MODELS,
    PAPERS,
    PRINTED_SEEDS,
    SHIFTS,
    SOURCE,
    TABLES,
    VARIANTS,
    Misprint,
    PaperTable,
    PublishedNumber,
    misprints_of,
    paper_table,
    printed_deviations,
    published_numbers,
    published_tables,
)

__all__ = [
    "AVERAGE",
    "AVERAGED",
    "KIND_OF_TASK",
    "METRICS",
    "MISPRINTS",
    "MODELS",
    "PAPERS",
    "PRINTED_SEEDS",
    "SHIFTS",
    "SOURCE",
    "TABLES",
    "VARIANTS",
    "Misprint",
    "PaperTable",
    "PublishedNumber",
    "misprints_of",
    "paper_table",
    "printed_deviations",
    "published_numbers",
    "published_tables",
]
