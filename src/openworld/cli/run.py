"""`openworld run SPEC.toml`: a run of your own."""

from pathlib import Path
from typing import Annotated

import typer


def run(
    spec: Annotated[Path, typer.Argument(help="TOML file, as above.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder of the run; default runs/NAME OF THE SPEC. Continued if unfinished.")
    ] = None,
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
        int, typer.Option(min=0, help="Unreadable images that each image set may lack; more stop the run.")
    ] = 0,
    data: Annotated[
        Path | None, typer.Option(help="Folder of all downloaded data sets; default $OPENWORLD_DATA.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON instead.")] = False,
) -> None:
    """Run learners on base and new classes, and write records and a report.

    Classes are cut in half in their order, which is that of the folders' names, or of the numbers in a list: learners
    are tuned on the first half, the base classes (with the odd one), and the others are new.

    A spec names a data set, a backbone and learners; only learners must be given, the rest has these defaults:

    ```toml
    dataset = "emoji-concepts"  # of `openworld list`, or a picture folder
    train_domain = "twemoji"    # a style here, or a sub-folder
    test_domain = "twemoji"     # left out: that of training
    backbone = "embedded"       # of `openworld list`, a folder, a hub id
    seeds = [1, 2, 3]
    shots = 16                  # pictures of each base class; [1, 4, 16] sweeps
    views = 8                   # augmented views of each shot
    crop_scale = [0.5, 1.0]     # how much of it a view keeps; [0.08, 1.0]
                                # of pictures that are not embedded
    threads = 1                 # of each process
    precision = "float32"       # of the frozen towers; on a GPU "tf32",
                                # "bfloat16" or "float16" are faster
    keep_learners = true        # in the records, for openworld predict
    keep_validation = true      # their scores too, for openworld decide
    operating = { miss_rate = 0.2 }  # choose each threshold; default none
    imbalance_factor = 5        # other mixes: one half shrunk by so much,
    ratios = [10, 5, 3, 2, 1, 0.7, 0.5, 0.3, 0.2, 0.1]  # more or fewer new
    resamples = 20              # how often each of these mixes is drawn

    [[learners]]
    learner = "zero-shot"

    [[learners]]
    learner = "GMoP"
    label = "GMoP, alpha and K chosen"
    settings = { gate = "sigmoid", schedule = { epochs = 40 } }
    choose = { alpha = [0.1, 0.5, 1.0], detectors = [2, 3] }
    ```

    Class names are looked at first (openworld data audit); what is wrong with them is said, and the run goes on.

    `choose` decides on validation pictures of base classes. `operating` chooses, on validation pictures, the threshold
    to run each learner with, by one rule: `{ miss_rate = 0.2 }`, `{ hit_rate = 0.5 }`, or costs such as
    `{ base_missed = 1.0, new_unhit = 5.0, new_share = 0.1 }`; `openworld decide` does so afterwards.

    Killed and started again, a run goes on where it was and ends with the same bytes.

    The bytes are the same whichever engine and however many workers do it. `--engine ray` needs pip install
    'openworld[ray]'; on a cluster, give folders for --out and --cache that all nodes share.

    With `protocol = "generalisation"` at its head a spec tunes on one data set and meets others: its variants, and new
    classes of other data sets, as examples/generalisation-embedded.toml does.

    With `protocol = "dynamic"` at its head a spec asks for OpenPL's scenarios instead, as
    examples/dynamic-embedded.toml does: classes and pictures change step by step after tuning.

    With `protocol = "accuracy-estimation"` at its head a spec trains classifiers (or loads yours), shows them shifted
    and corrupted pictures, and holds what estimators of accuracy without labels say against what is true, as
    examples/accuracy-estimation-embedded.toml does.

    With `protocol = "ood-detection"` at its head a spec cuts a pool of pictures into cells by how far they are from
    the training pictures, in meaning and in looks, and asks in every cell whether detectors see it, as
    examples/ood-detection-embedded.toml does.

    With `protocol = "recognition-by-shift"` at its head a spec does so with learners: OpenworldAUC, its parts, and
    accuracy estimated without labels, by measured shift, as examples/recognition-by-shift-embedded.toml does.

    With `protocol = "decomposed-zero-shot"` at its head a spec names pictures by one half of their features at a time,
    which tells what the halves know.
    """
    from openworld._errors import OpenworldError

    if not spec.exists():
        raise OpenworldError(f"{spec} does not exist; give the path of a TOML file (openworld run --help shows one).")
    from openworld import datasets
    from openworld._sizes import parse_size
    from openworld.cli._running import RunOptions, carry_out
    from openworld.evaluations import read_protocol
    from openworld.runs import read_given

    if data:
        datasets.use_root(data)
    resolved = read_protocol(spec)
    folder = out or Path("runs") / spec.stem
    limit = parse_size(cache_limit, "--cache-limit") if cache_limit else None
    options = RunOptions(
        folder, device, workers, cache, allow_corrupt, quiet, as_json, engine=engine, cache_limit=limit
    )
    carry_out(resolved, read_given(spec), options)
