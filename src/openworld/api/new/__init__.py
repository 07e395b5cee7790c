"""Specs of evaluations with one's own data in them, and plug-ins with their tests: `openworld new`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from openworld.api.arguments import OutputFolder
from openworld.core.errors import OpenworldError, unknown_name
from openworld.core.types import checked


@checked
def new(
    kind: str,
    name: str = "",
    *,
    data: str = "",
    test: Sequence[str] = (),
    backbone: str = "",
    out: Annotated[Path | str | None, OutputFolder()] = None,
) -> str:
    """Write a commented spec for `openworld run`, or a plug-in package for a method of your own.

    ```
    openworld new recognition --data photos/ > my-run.toml
    openworld new generalisation --data photos/ --test sketches/ > my-run.toml
    openworld new learner MyLearner
    ```

    The spec is printed, after your folders were looked at: a mistake shows now and not in the middle of a run. A
    plug-in is a small package that works as it is, with a test that holds it against everything that the built-in ones
    promise: change it step by step, and keep the test green.

    Args:
        kind: a spec: recognition, generalisation, dynamic, accuracy-estimation, ood-detection, ood-benchmark,
            recognition-by-shift, decomposed-zero-shot. A plug-in: learner, detector, estimator, evaluation.
        name: of a plug-in: a class name, such as MyLearner.
        data: of a spec: your folder of class folders, or a data set; default: the embedded world.
        test: of a spec: images to test on, likewise.
        backbone: of a spec; default: ViT-B/16, embedded for the embedded world.
        out: of a plug-in: its folder; default: its name.

    Returns:
        The text of the spec, or what to do next with the plug-in.

    Raises:
        OpenworldError: an unknown kind, data that is not there, a folder that is there already.
    """
    from openworld.api.new.writing import EXAMPLES, new_plug_in, new_spec
    from openworld.evaluations import EVALUATIONS

    if kind in EXAMPLES:
        if not name or data or test or backbone:
            raise OpenworldError(f"a plug-in needs a name and no data: openworld new {kind} My{kind.capitalize()}.")
        folder = new_plug_in(kind, name, None if out is None else Path(out))
        return (
            f"{folder}/ holds a working example as {name}. Next:\n"
            f"  pip install -e {folder}     # openworld finds it from then on\n"
            f"  python -m pytest {folder}   # what a {kind} promises"
        )
    if kind not in EVALUATIONS:
        raise unknown_name("kind", kind, (*EVALUATIONS, *EXAMPLES))
    if name or out:
        raise OpenworldError("a spec is printed and has no name; write it to a file: openworld new ... > my-run.toml.")
    return new_spec(kind, data, test, backbone)
