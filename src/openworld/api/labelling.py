"""A few labels: which images to label, a page to label them on, and what is then known: `openworld label`.

Functions of arrays, for programs that ask people in ways of their own, are in `openworld.labels`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from openworld.api.arguments import Names, OutputFolder, Report, Stream
from openworld.api.work import done_by
from openworld.core.types import Range


@done_by("own_data.label.report:plan_labels")
def label_plan(
    stream: Stream | None = None,
    out: Annotated[Path | str | None, OutputFolder(own=("a plan of labels",))] = None,
    *,
    add: Path | str | None = None,
    n: Annotated[int, Range(2)] | None = None,
    within: float | None = None,
    compare: Stream | None = None,
    design: str = "auto",
    quantity: str = "",
    base_names: Names | None = None,
    no_images: bool = False,
    seed: int = 0,
    quiet: bool = False,
) -> Report:
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
    the question is whether the name is right, and the number is the accuracy. The page shows the images of scores that
    `openworld estimate --out` kept. With `--compare` only images that the two name differently are drawn, and the
    number is the difference.

    Args:
        stream: a model's stream: .parquet, .csv, .npz, .safetensors, .jsonl; in Python also columns, or what `estimate`
            returned, for the target that it was about.
        out: folder of a new plan; made where missing.
        add: folder of a plan that gets a second batch, or a third, from the stream of its first where none is given.
        n: how many images to label; default: 100.
        within: instead of `n`: points either way, such as 3, at best.
        compare: another model's stream on the same images.
        design: how to draw: auto, random, stratified or poisson.
        quantity: what the draw serves, such as new_accuracy; default: openworld_auc.
        base_names: text file, a base name per line, where the stream does not say; in Python also names.
        no_images: leave the images out of the page.
        seed: of the draw.
        quiet: show no progress; on the command line, print nothing but errors.

    Returns:
        A report that shows how many labels are needed; `.found.plan` is the `openworld.labels.LabelPlan`,
        `.found.promised` how wide the interval will be, at best and at worst.

    Raises:
        OpenworldError: streams that will not do, a folder that holds something else, more labels than images.
    """


@done_by("own_data.label.report:read_labels")
def label_read(
    folder: Path | str,
    *,
    answers: Path | str | Sequence[Path | str] = (),
    out: Annotated[
        Path | str | None, OutputFolder(own=("a plan of labels", "what labels say"), beside=("folder",))
    ] = None,
    quiet: bool = False,
) -> Report:
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

    Args:
        folder: the folder that `openworld label plan` wrote.
        answers: files of answers, where they do not lie in the folder.
        out: folder that keeps page and numbers; default: that of the plan.
        quiet: show no progress; on the command line, print nothing but errors.

    Returns:
        A report that shows the numbers; `.results` are its rows.

    Raises:
        OpenworldError: no plan there, answers that are none or belong to another plan, too few of them.
    """
