"""How figures of recognition group the marks of a learner."""

from openworld.evaluations.recognition.summary import Row, Table
from openworld.report.panels import NAMED
from openworld.report.series_style import Look


def belongs(row: Row, table: Table, looks: dict[str, Look]) -> dict[str, str]:
    """Attributes of the group that draws a learner; in a crowded plot all but the best and the untuned stand back."""
    crowded = len(table.rows) > NAMED and row not in (table.best, table.yardstick)
    return {"class_": looks[row.learner].css_class + " back" * crowded, "data_learner": row.learner}
