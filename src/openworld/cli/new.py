"""`openworld new KIND`: a spec with your data in it, or a plug-in with its tests."""

from pathlib import Path
from typing import Annotated

import typer

SPECS = (
    "recognition",
    "generalisation",
    "dynamic",
    "accuracy-estimation",
    "ood-detection",
    "ood-benchmark",
    "recognition-by-shift",
    "decomposed-zero-shot",
)
"""The evaluations, named here because their room takes long to import; a test holds them together."""


def new(
    kind: Annotated[
        str,
        typer.Argument(help=f"A spec: {', '.join(SPECS)}. A plug-in: learner, detector, estimator, evaluation."),
    ],
    name: Annotated[str, typer.Argument(help="Of a plug-in: a class name, such as MyLearner.")] = "",
    data: Annotated[
        str, typer.Option(help="Of a spec: your folder of class folders, or a data set; default: the embedded world.")
    ] = "",
    test: Annotated[list[str] | None, typer.Option(help="Of a spec: images to test on, likewise; repeat it.")] = None,
    backbone: Annotated[str, typer.Option(help="Of a spec; default ViT-B/16, embedded for the embedded world.")] = "",
    out: Annotated[Path | None, typer.Option(help="Of a plug-in: its folder; default: its name.")] = None,
) -> None:
    """Write a commented spec for `openworld run`, or a plug-in package for a method of your own.

    ```
    openworld new recognition --data photos/ > my-run.toml
    openworld new generalisation --data photos/ --test sketches/ > my-run.toml
    openworld new learner MyLearner
    ```

    The spec is printed, after your folders were looked at: a mistake shows now and not in the middle of a run. A
    plug-in is a small package that works as it is, with a test that holds it against everything that the built-in ones
    promise: change it step by step, and keep the test green.
    """
    from openworld._errors import OpenworldError, unknown_name
    from openworld.api.new.new_plug_in import EXAMPLES, new_plug_in
    from openworld.cli import console
    from openworld.evaluations import EVALUATIONS

    if kind in EXAMPLES:
        if not name or data or test or backbone:
            raise OpenworldError(f"a plug-in needs a name and no data: openworld new {kind} My{kind.capitalize()}.")
        folder = new_plug_in(kind, name, out)
        console.write(
            f"{folder}/ holds a working example as {name}. Next:\n"
            f"  pip install -e {folder}     # openworld finds it from then on\n"
            f"  python -m pytest {folder}   # what a {kind} promises"
        )
        return
    if kind not in EVALUATIONS:
        raise unknown_name("kind", kind, (*EVALUATIONS, *EXAMPLES))
    if name or out:
        raise OpenworldError("a spec is printed and has no name; write it to a file: openworld new ... > my-run.toml.")
    from openworld.api.new.new_spec import new_spec

    console.write(new_spec(kind, data, test or (), backbone))
