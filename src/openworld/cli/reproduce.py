"""`openworld reproduce PAPER`: a paper's tables and figures, made again."""

from pathlib import Path
from typing import Annotated

import typer

from openworld.cli._options import AllowCorrupt, AsJson, Cache, CacheLimit, Devices, Engine, Quiet, Workers


def reproduce(
    paper: Annotated[str, typer.Argument(help="openworldauc, openpl, frap or is-ood.")],
    data: Annotated[
        str, typer.Option(help="Folder of all downloaded data sets; or embedded: drawings that come with openworld.")
    ],
    table: Annotated[
        list[str] | None, typer.Option(help="Number of a table; repeat it. Default: all, unless figures are named.")
    ] = None,
    figure: Annotated[
        list[str] | None, typer.Option(help="Number of a figure, such as 3, 5 or 5a, or all; repeat it.")
    ] = None,
    dataset: Annotated[
        list[str] | None, typer.Option(help="Only this data set, or row of frap, such as DTD or dtd; repeat it.")
    ] = None,
    checkpoint: Annotated[
        list[str] | None, typer.Option(help="frap: judge after this epoch alone, or last; repeat it.")
    ] = None,
    backbone: Annotated[
        str, typer.Option(help="ViT-B/16, ViT-B/32, ViT-L/14, a name of openworld list, a folder, a hub id.")
    ] = "",
    out: Annotated[
        Path | None, typer.Option(help="Folder of all runs; default runs/PAPER-BACKBONE. Continued if unfinished.")
    ] = None,
    learners: Annotated[str, typer.Option(help='Only these methods, such as "CLIP, CoOp, GMoP".')] = "",
    seeds: Annotated[str, typer.Option(help="Seeds, all of them in every run; default: the paper's.")] = "",
    add: Annotated[
        Path | None, typer.Option(help="TOML file of [[learners]], as in a run's spec: rows beside the paper's.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option(help="Other settings: 'CoOp.schedule.epochs = 100'; repeat it.")
    ] = None,
    shots: Annotated[int | None, typer.Option(min=1, help="Training images of each class; papers: 16.")] = None,
    views: Annotated[
        str, typer.Option(help="Augmented views of each training image, or fresh: one for every epoch; default 8.")
    ] = "",
    precision: Annotated[
        str, typer.Option(help="Of the frozen towers: float32; on a GPU tf32, bfloat16 or float16 are faster.")
    ] = "float32",
    draw: Annotated[
        str, typer.Option(help="Few-shot draw: coop, or openworldauc, that of its released code.")
    ] = "coop",
    published_names: Annotated[
        bool, typer.Option("--published-names", help="ImageNet's classes as in published runs: two pairs share a name.")
    ] = False,
    sentences: Annotated[
        str, typer.Option(help="openworldauc, across data sets: new names in the target's sentences, or the source's.")
    ] = "target",
    classifier: Annotated[
        str, typer.Option(help="is-ood: the judged classifier, such as torchvision's resnet50-0676ba61.pth.")
    ] = "",
    names: Annotated[str, typer.Option(help="is-ood, Table 3: a text file of names that teach, one per line.")] = "",
    quick: Annotated[int, typer.Option(min=1, help="Divide all epochs by this.")] = 1,
    margin: Annotated[
        float, typer.Option(help="Fraction: ours are called reproduced when shown to be no further from the printed.")
    ] = 0.01,
    show: Annotated[
        str, typer.Option(help="Behind our numbers: interval (95 %), or deviation (±, over seeds).")
    ] = "interval",
    accept: Annotated[
        bool, typer.Option("--accept", help="Compare untuned CLIP with printed numbers; exit code 3 if it departs.")
    ] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Say what would run and what it costs, and stop.")] = False,
    device: Devices = "auto",
    workers: Workers = 0,
    engine: Engine = "local",
    cache: Cache = None,
    cache_limit: CacheLimit = "",
    allow_corrupt: AllowCorrupt = 0,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Make a paper's tables and figures again, and put them beside the printed ones.

    Four papers: `openworldauc` (learners that must notice new classes), `openpl` (learners while classes and images
    change), `frap` (accuracy estimated without labels), `is-ood` (detectors of images that are out of distribution).

    ```sh
    openworld reproduce openworldauc --data embedded --quick 4
    openworld reproduce openworldauc --data ~/data --table 2 --plan
    openworld reproduce openworldauc --data ~/data --table 2 --device cuda
    openworld reproduce openworldauc --data embedded --quick 10 \\
        --figure 2 --figure 6
    openworld reproduce openpl --data ~/data --table 6 --table 7 \\
        --learners "CLIP, CoOp, ProDA"
    openworld reproduce frap --data embedded --quick 10
    openworld reproduce frap --data ~/data --dataset cifar10 --checkpoint last
    openworld reproduce is-ood --data embedded --quick 4
    ```

    With `--data embedded` drawings that come with openworld stand in for the paper's data sets, with settings that suit
    the small CLIP that comes along too: everything runs without a download, in the same layout. Numbers of other data
    are not subtracted from the printed ones; the orders of the methods are compared.

    With `--data FOLDER` it needs the paper's data sets, as CoOp lays them out (`openworld data check all --root FOLDER`
    says what is missing), and takes the published settings, the model and the seeds of the paper.

    `--dataset` makes the tables of some data sets alone, by the paper's name or ours; the others need no download, and
    averages are over those that are there. What is reached from ImageNet needs ImageNet: such tables are made if it is
    asked for too, or if they are named. Of `frap` it names a source (cifar10) or a row (C10-S); rows of a source whose
    data are not in the folder are left out and named.

    First it says what the runs cost: units (one learner with one seed), images to encode, disk; `--plan` stops there,
    and needs no data. The time left is shown while they run. Each run serves all tables that need it. Killed and
    started again, it goes on where it was and ends with the same records; more tables or seeds may follow in the same
    folder, and what is there is not computed again. At the end every table stands beside the printed one: on screen,
    in OUT/tables (CSV, Markdown, LaTeX) and on one page.

    `--figure` makes figures of the paper, alone or beside the tables that `--table` names: OUT/figures has the numbers
    of each as CSV and its drawing as SVG and PDF (pip install 'openworld[plots]'), the page has both. Most are drawn
    from the same runs as a table, and cost nothing where that is made; sweeps, such as OpenworldAUC's Figure 6, have
    runs of their own, which `--plan` counts. Where numbers are printed, they stand beside ours.

    `frap` trains the classifiers whose accuracy is estimated (seeds 0, 1 and 10) and uses CLIP ViT-B/32 and SigLIP
    ViT-B/16 as references (`--backbone` is the first); its methods are called "ATC-MC", "FRAP (CLIP)" and so on.
    `is-ood` tests detectors ("MSP", "KNN") in cells of ever less similar images: on downloaded data the published image
    lists and a ResNet-50 (`--classifier FILE`, or in the folder of data), on embedded data a division made here.

    `--accept` is the first thing to do with downloaded data: it compares CLIP without any tuning, which has no
    randomness, with the printed numbers of OpenworldAUC or OpenPL, cell by cell with a stated tolerance; data sets that
    are not there are left out. It checks images, names, sentences, preprocessing and weights, and tells which is
    not the paper's. Exit code 0 where all agree, 3 where a number departs.

    ```sh
    openworld reproduce openworldauc --data ~/data --learners CLIP --accept
    ```

    `--add FILE` puts learners of your own into the tables; the file lists them as the spec of `openworld run` does:

    ```toml
    [[learners]]
    learner = "zero-shot-ensemble"

    [[learners]]
    learner = "CoOp"
    label = "CoOp, 4 tokens"
    settings = { context_length = 4 }
    ```

    Their rows are marked (added); `--learners CLIP` leaves out the paper's other methods. `--settings`, `--shots`,
    `--views`, `--draw` and `--precision` change the paper's methods; such runs get folders of their own, and every
    table says what was changed.

    On the paper's data every number of ours is tested against the printed one, over our seeds and over those of the
    paper where it prints a deviation: reproduced within `--margin` (two one-sided tests), else higher, lower, or not
    told apart.
    """
    from dataclasses import replace

    from openworld._errors import OpenworldError
    from openworld.cli import console
    from openworld.cli._reproducing import carry_out_plan
    from openworld.evaluations.running import RunOptions
    from openworld.reproduction.acceptance import acceptance_plan
    from openworld.reproduction.changes import Changes, read_added, read_settings
    from openworld.reproduction.plan import ReproductionSetup
    from openworld.reproduction.series import plan_what_is_there

    kept = tuple(filter(None, map(str.strip, learners.split(","))))
    changes = Changes(
        read_added(add) if add else (),
        read_settings(settings or ()),
        shots,
        _views(views),
        precision,
        draw,
        published_names,
        sentences,
    )
    setup = ReproductionSetup(data, backbone, _numbers(seeds) if seeds else (), kept, quick, changes, classifier)
    setup = replace(setup, datasets=tuple(dataset or ()), checkpoints=tuple(checkpoint or ()), names=names)
    if accept and (table or figure):
        raise OpenworldError("--accept compares rows of all tables that can be repeated; leave --table, --figure out.")
    if accept:
        reproduction = acceptance_plan(paper, setup)
    else:
        reproduction = plan_what_is_there(paper, table or (), setup, figures=figure or ())
    name = f"{reproduction.folder_name}-accepted" if accept else reproduction.folder_name
    folder = out or Path("runs") / name
    options = RunOptions(folder, device, workers, cache, allow_corrupt, engine, cache_limit, console.command())
    carry_out_plan(
        reproduction, options, quiet=quiet, as_json=as_json, only_plan=plan, accept=accept, margin=margin, show=show
    )


def _views(text: str) -> int | str | None:
    """A number of views, or "fresh"; None where nothing is said."""
    from openworld._errors import OpenworldError

    if text in ("", "fresh"):
        return text or None
    if not text.isdigit():
        raise OpenworldError(f"--views is {text!r}, expected a whole number, or fresh.")
    return int(text)


def _numbers(text: str) -> tuple[int, ...]:
    """Whole numbers in a text, with commas or without.

    >>> _numbers("1 2, 3")
    (1, 2, 3)
    """
    from openworld._errors import OpenworldError

    words = text.replace(",", " ").split()
    if not words or not all(word.isdigit() for word in words):
        raise OpenworldError(f'--seeds is {text!r}, expected whole numbers, such as "1 2 3".')
    return tuple(map(int, words))
