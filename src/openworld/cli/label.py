"""`openworld label`: which images to label, a page to label them on, and what is then known."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from openworld.cli import console
from openworld.cli._options import AsJson, Quiet

label = typer.Typer(
    no_args_is_help=True, help="A few labels: which images to label, a page to do it on, and what is then known."
)


def plan(
    stream: Annotated[
        Path | None, typer.Argument(help="A model's stream: .parquet, .csv, .npz, .safetensors; columns as below.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of a new plan; made where missing.")] = None,
    add: Annotated[Path | None, typer.Option(help="Folder of a plan that gets a second batch, or a third.")] = None,
    n: Annotated[int | None, typer.Option("--n", min=2, help="How many images to label; 100 if left out.")] = None,
    within: Annotated[float | None, typer.Option(help="Instead of --n: points either way, such as 3, at best.")] = None,
    compare: Annotated[Path | None, typer.Option(help="Another model's stream on the same images.")] = None,
    design: Annotated[str, typer.Option(help="How to draw: auto, random, stratified or poisson.")] = "auto",
    quantity: Annotated[
        str, typer.Option(help="What the draw serves, such as new_accuracy; openworld_auc if left out.")
    ] = "",
    base_names: Annotated[
        Path | None, typer.Option(help="Text file, a base name per line, where the stream does not say.")
    ] = None,
    no_pictures: Annotated[bool, typer.Option("--no-pictures", help="Leave the images out of the page.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the draw.")] = 0,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Draw the images that are worth a label, and write a page to label them on.

    ```
    openworld predict runs/mine new/ --out stream.parquet
    openworld label plan stream.parquet --out labels
    openworld label plan stream.parquet --out labels --within 3
    openworld label plan mine.parquet --compare other.parquet --out pair
    openworld label plan --add labels --n 50
    ```

    First it says how many labels each number takes for ±10, ±5, ±3 and ±2 points: at best, if what is expected of the
    images holds, and at worst, if that is worth nothing. Then it draws them: `random` takes all alike, `stratified`
    more images where the number depends on them, `poisson` each by itself. `auto` (the default) draws at random, since
    no label shows yet what the expectations are worth. Of a plan that is answered, `--add` draws further images; from
    25 answers on, `auto` takes strata where the answers show that these are clearly better.

    **Written** into the folder: label.html, worksheet.csv and plan.safetensors (what was drawn, scores and chances).
    Open label.html in a browser: it shows the images one by one, and asks: base class or new class, and is the name
    right? Keys 1 to 4 answer, U takes back. Nothing leaves the machine. Download the answers into the folder, or fill
    in the worksheet's column `answer` (base right, base wrong, new right, new wrong, cannot tell) or `label` (the true
    class name). Then: `openworld label read labels`.

    **A stream** has a row per image, as `openworld predict --out` writes it:

    - `logits` over base names, then new names, with `classnames` and `n_base` (docs/open-world-without-labels.md), or
      `score` (larger = more base-like), `base_name` and `new_name` (its name as a base image, and as a new one).
    - `image` (path, for the page), `id`, `group` (images that belong together): optional.
    - `base`, `base_right`, `new_right` (optional): what you expect of the image, in [0, 1]. Wrong expectations make an
      interval wider, never false.

    **A closed-set classifier** is a file of `openworld estimate`: `logits` or `probabilities`, and no base names. Then
    the question is whether the name is right, and the number is the accuracy. With `--compare` only images that the two
    name differently are drawn, and the number is the difference.
    """
    from openworld.applications.label import command
    from openworld.applications.label.planning import PlanInputs
    from openworld.applications.predict import read_names

    names = tuple(read_names(base_names)) if base_names is not None else None
    inputs = PlanInputs(stream, out, add, compare, names, n, within, design, quantity, seed, not no_pictures)
    screen = console.output(quiet=quiet or as_json)
    with console.observer(screen) as observer:
        answer = command.plan_labels(inputs, observer)
    console.show(answer, screen, as_json=as_json)


def read(
    folder: Annotated[Path, typer.Argument(help="The folder that `openworld label plan` wrote.")],
    answers: Annotated[
        list[Path] | None,
        typer.Option(help="Answers, where they do not lie in the folder; repeat it for several files."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Keep page and numbers here; in the plan's folder if left out.")
    ] = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Tell what the labels of a plan say: OpenworldAUC, its parts, accuracy, each with an interval that holds.

    ```
    openworld label read labels
    openworld label read labels --answers ~/Downloads/answers-1f2e3d4c.csv
    openworld label read labels --json | jq .results
    ```

    Two intervals of 95 %: on *these images* only the draw of the labels is random; of *images like these* other images
    are, too. Both hold whatever the model's confidences are worth, if the labels are right. Fewer than 10 labelled
    images of a side (100 of a side that is rarer than one in eight) give no number, and it is said how many more are
    needed.

    **Answered in part:** the images are in random order, so the first of them are used up to the first gap, and it is
    said. **Cannot tell:** such images count as whatever lowers, and as whatever raises, a number most; above 10 % it
    refuses. A worksheet of another plan, changed ids and doubled rows are refused.

    **Kept**: report.html, results.parquet (a row per number) and label.json.
    """
    from openworld.applications.label import command

    screen = console.output(quiet=quiet or as_json)
    with console.observer(screen) as observer:
        made = {"command": shlex.join(console.command())}
        answer = command.read_labels(folder, tuple(answers or ()), out, observer, made)
    console.show(answer, screen, out=out or folder, as_json=as_json)


label.command("plan")(console.reporting(plan))
label.command("read")(console.reporting(read))
