"""`openworld detect`: which detector sees what is out of distribution."""

import shlex
from pathlib import Path
from typing import Annotated

import typer


def detect(
    scores: Annotated[str, typer.Option(help="Scores of your own: .parquet, .csv or .npz, columns as below.")],
    larger_out: Annotated[
        bool, typer.Option("--larger-out", help="These scores are larger for what is out of distribution.")
    ] = False,
    detector: Annotated[list[str] | None, typer.Option(help="Only this detector; repeat it.")] = None,
    replicates: Annotated[
        int, typer.Option(min=0, help="Of the bootstrap for intervals of FPR and AUPR; 0: none.")
    ] = 200,
    out: Annotated[Path | None, typer.Option(help="Keep page, numbers and scores here.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the bootstrap.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON instead.")] = False,
) -> None:
    """Tell which detector sees what is out of distribution (OOD), on sets of your own.

    ```
    openworld detect --scores scores.parquet --out runs/detect
    ```

    **Scores** are a table with a row per image:

    - `group` id (in-distribution), near, far, covariate, full-spectrum
    - `set` name of the set, such as textures
    - any other column: a detector's scores, larger = more in-distribution (otherwise `--larger-out`)
    - `image` (optional): its path, for the page; `cluster` (optional): images that are not independent share a label;
      `part` (optional): test or validation, of in-distribution images

    **Groups.** Near and far sets show other classes. Covariate sets show the same classes in another appearance: their
    AUROC says how much of that shift is seen. Full-spectrum sets are such sets as well, and count as in-distribution in
    a second round of near and far numbers, as OpenOOD v1.5 counts them.

    **Numbers**: AUROC, FPR at 95 % and AUPR, the last two with either side positive; 95 % intervals over images; means
    over the sets of a group, and the best detector tested against each other one (DeLong, paired; Holm).

    **Kept** with `--out`: report.html, results.parquet, and scores.parquet, which `--scores` reads again.
    """
    from openworld.applications.detect import command
    from openworld.cli import console

    options = command.DetectOptions(replicates, seed, out)
    screen, made = console.output(quiet=quiet or as_json), shlex.join(console.command())
    chosen = tuple(detector or ())
    with console.observer(screen) as observer:
        answer = command.detect_scores(
            scores, larger_out=larger_out, detector=chosen, options=options, observer=observer, made=made
        )
    answer.show(screen)
    if out is not None:
        screen.print(f"Report: {out / 'report.html'}   Scores: {out / command.SCORES}", markup=False)
    if as_json:
        console.write(answer.json)
