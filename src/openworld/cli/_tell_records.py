"""What the command line says of an evaluation of another package that brings no page: its records as they are."""

TABLES: dict = {}
FORMS = ("json",)
MORE = "Numbers: openworld report {folder} --table json"


def load(folder):
    """The records of a run, verified."""
    from openworld.runs import RunStore

    return RunStore(folder).records()


def say(run, out) -> None:
    """How many records there are."""
    out.print(f"{len(run)} records; this evaluation brings no page.")


def export(run, form: str) -> str:
    """The metrics of every record."""
    from openworld.runs import readable_json

    return readable_json([{"unit": one.name, "metrics": one.metrics} for one in run]).decode()
