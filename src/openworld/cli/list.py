"""`openworld list KIND`: what there is to choose from."""

from typing import Annotated

import typer

KINDS = ("learners", "detectors", "estimators", "classifiers", "datasets", "backbones", "metrics", "evaluations")
FORMER = {"protocols": "evaluations"}


def list_command(kind: Annotated[str, typer.Argument(help=f"One of: {', '.join(KINDS)}, all.")] = "all") -> None:
    """List the learners, detectors, estimators, data sets and so on that there are, each in a line."""
    from openworld._errors import unknown_name
    from openworld.cli import console
    from openworld.cli._catalogue import catalogue

    kind = FORMER.get(kind, kind)
    if kind not in (*KINDS, "all"):
        raise unknown_name("kind", kind, (*KINDS, "all"))
    out = console.output()
    for one in KINDS if kind == "all" else (kind,):
        out.print(catalogue(one))
        out.print()
