"""`openworld reproduce PAPER`: a paper's tables, made again."""

from pathlib import Path
from typing import Annotated

import typer


def reproduce(
    paper: Annotated[str, typer.Argument(help="openworldauc, openpl, frap or is-ood.")],
    data: Annotated[
        str, typer.Option(help="Folder of all downloaded data sets; or embedded, for the world that comes along.")
    ],
    table: Annotated[list[str] | None, typer.Option(help="Number of a table; repeat it. Default: all.")] = None,
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
    shots: Annotated[int | None, typer.Option(min=1, help="Training pictures of each class; papers: 16.")] = None,
    views: Annotated[int | None, typer.Option(min=0, help="Augmented views of each of them; default 8.")] = None,
    precision: Annotated[
        str, typer.Option(help="Of the frozen towers: float32; on a GPU tf32, bfloat16 or float16 are faster.")
    ] = "float32",
    quick: Annotated[int, typer.Option(min=1, help="Divide all epochs by this.")] = 1,
    accept: Annotated[
        bool, typer.Option("--accept", help="Hold zero-shot CLIP against printed numbers; exit code 3 if it departs.")
    ] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Say what would run and what it costs, and stop.")] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate/--no-estimate", hidden=True, help="Without effect: no hours are forecast.")
    ] = True,
    device: Annotated[
        str, typer.Option(help="auto: all GPUs where there are any; cpu, cuda, mps, cuda:1, cuda:0,cuda:1.")
    ] = "auto",
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0 for one per core, on GPUs by their memory.")] = 0,
    engine: Annotated[
        str, typer.Option(help="local: this machine; ray: Ray here, or the cluster that RAY_ADDRESS names.")
    ] = "local",
    cache: Annotated[
        Path | None, typer.Option(help="Where encoded images are kept; default ~/.cache/openworld.")
    ] = None,
    cache_limit: Annotated[
        str, typer.Option(help="What encoded images may take, such as 50GB; what is not kept is made again.")
    ] = "",
    allow_corrupt: Annotated[
        int, typer.Option(min=0, help="Unreadable images that each image set may lack; more fail its run.")
    ] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print plan or tables as JSON instead.")] = False,
) -> None:
    """Make a paper's tables again, and put them beside the printed ones.

    ```sh
    openworld reproduce openworldauc --data embedded --quick 4
    openworld reproduce openworldauc --data ~/data --table 2 --plan
    openworld reproduce openworldauc --data ~/data --table 2 --device cuda
    openworld reproduce openpl --data ~/data --table 6 --table 7 \\
        --learners "CLIP, CoOp, ProDA"
    openworld reproduce frap --data embedded --quick 10
    openworld reproduce is-ood --data embedded --quick 4
    ```

    It says first what it will cost: units (one learner with one seed), images to encode, disk; `--plan` stops there,
    and needs no data. How long the rest takes is said beside the bar while it runs, at the pace so far.

    Then it runs what the tables need, each run once for all of them: data sets in CoOp's layout (openworld data check
    all --root DIR says what is missing), the learners' published settings, ViT-B/16, seeds 1, 2 and 3. Killed and
    started again, it goes on where it was and ends with the same bytes. More tables, or more seeds, may follow in the
    same folder: units that are there are not computed again.

    FRAP trains the classifiers that are judged, seeds 0, 1 and 10, lets them and its references (CLIP ViT-B/32 and
    SigLIP ViT-B/16; --backbone is the first) look at every shift, and estimates; its methods are named like
    "ATC-MC" and "FRAP (CLIP)".

    IS-OOD judges detectors (--learners "MSP, KNN") over cells of semantic and covariate shift: on downloaded data the
    published image lists with a saved classifier, on embedded data a division made here.

    At last every table stands beside the printed one, on screen, in OUT/tables (CSV, Markdown, LaTeX) and on one page.

    `--accept` is the first thing to do with downloaded data: zero-shot CLIP, which learns nothing, against the printed
    numbers of OpenworldAUC or OpenPL, cell by cell with a stated tolerance; data sets that are not there are left out.
    Where a number departs it looks at images, names, sentences, preprocessing, weights and metric, and tells which of
    them is not the paper's. Exit codes: 0; 3 where a number departs.

    ```sh
    openworld reproduce openworldauc --data ~/data --learners CLIP --accept
    ```

    Your own learners come into the papers' tables with `--add FILE`, a file of learners as in a run's spec:

    ```toml
    [[learners]]
    learner = "zero-shot-ensemble"

    [[learners]]
    learner = "CoOp"
    label = "CoOp, 4 tokens"
    settings = { context_length = 4 }
    ```

    Their rows stand beside the printed ones, marked (added); `--learners CLIP` then spares the paper's. `--settings`,
    `--shots`, `--views` and `--precision` change what the paper's methods do; the runs get folders of their own, and
    every table says what was changed.

    With `--data embedded` drawings stand in for the paper's data sets, with settings that suit the embedded CLIP: all
    of it runs here and now, in the same layout. Numbers of other data are not subtracted; the orders of the methods
    are compared.
    """
    from openworld._errors import OpenworldError
    from openworld._sizes import parse_size
    from openworld.cli._reproducing import carry_out_plan
    from openworld.cli._running import RunOptions
    from openworld.reproduction.acceptance import acceptance_plan
    from openworld.reproduction.changes import Changes, read_added, read_settings
    from openworld.reproduction.plan import ReproductionSetup
    from openworld.reproduction.plan import plan as planned

    kept = tuple(filter(None, map(str.strip, learners.split(","))))
    changes = Changes(read_added(add) if add else (), read_settings(settings or ()), shots, views, precision)
    setup = ReproductionSetup(data, backbone, _numbers(seeds) if seeds else (), kept, quick, changes)
    if accept and table:
        raise OpenworldError("--accept compares rows of all tables that can be repeated; leave --table out.")
    found = acceptance_plan(paper, setup) if accept else planned(paper, table or (), setup)
    named = f"{paper}-{found.setup.backbone.rpartition('/')[2]}{'-accepted' if accept else ''}"
    folder = out or Path("runs") / named
    limit = parse_size(cache_limit, "--cache-limit") if cache_limit else None
    options = RunOptions(
        folder, device, workers, cache, allow_corrupt, quiet, as_json, engine=engine, cache_limit=limit
    )
    carry_out_plan(found, options, only_plan=plan, accept=accept)


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
