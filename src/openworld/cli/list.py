"""`openworld list KIND`: what there is to choose from."""

from typing import Annotated

import typer

KINDS = ("learners", "detectors", "estimators", "classifiers", "datasets", "backbones", "metrics", "evaluations")


def list_command(
    kinds: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="KIND", help=f"Of: {', '.join(KINDS)}; default: all. With --cite names too, such as CoOp."
        ),
    ] = None,
    cite: Annotated[bool, typer.Option("--cite", help="Print BibTeX entries instead.")] = False,
) -> None:
    """List the learners, detectors, estimators, data sets and so on that there are, each in a line.

    With `--cite`: the BibTeX entries of their papers, of whole kinds or by name.

    ```
    openworld list learners
    openworld list --cite CoOp GMoP detectors > methods.bib
    ```
    """
    from openworld._errors import unknown_name
    from openworld.cli import console

    names = [name for name in kinds or () if name != "all"]
    if cite:
        from openworld.api.citing import cite_methods

        console.write(cite_methods(names))
        return
    from openworld.cli._catalogue import catalogue

    for name in names:
        if name not in KINDS:
            raise unknown_name("kind", name, (*KINDS, "all"))
    out = console.output()
    if not names:
        out.print(f"One kind alone: openworld list detectors (or {', '.join(KINDS)}).\n", markup=False)
    for name in names or KINDS:
        out.print(catalogue(name))
        out.print()
