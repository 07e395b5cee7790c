"""`openworld run SPEC.toml`: a run of your own."""

from pathlib import Path
from typing import Annotated

import typer

from openworld.cli._options import AllowCorrupt, AsJson, Cache, CacheLimit, DataFolder, Devices, Engine, Quiet, Workers


def run(
    spec: Annotated[Path, typer.Argument(help="TOML file, as above.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder of the run; default runs/NAME OF THE SPEC. Continued if unfinished.")
    ] = None,
    device: Devices = "auto",
    workers: Workers = 0,
    engine: Engine = "local",
    cache: Cache = None,
    cache_limit: CacheLimit = "",
    allow_corrupt: AllowCorrupt = 0,
    data: DataFolder = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Tune learners on some classes, test them on these and on new ones, and write records and a report.

    A learner tunes a model such as CLIP on a few labelled images of base classes; other classes are new to it. Then it
    is measured whether it tells the two apart and names both. The spec says which classes are base; left out, it is
    the first half (with the odd one) in the order of the folders' names, or of the numbers in a list.

    A spec names a data set, a backbone and learners; only learners must be given, the rest has these defaults:

    ```toml
    dataset = "emoji-concepts"  # of `openworld list`, or an image folder
    base = []                   # names, or "names.txt"; [] is the first half
    new = []                    # [] is all others; or base and new are
                                # two folders of images, without dataset
    root = ""                   # folder of the paths of a list
    group_pattern = ""          # files that belong together: "(.+)_frame"
    train_domain = "twemoji"    # a style here, or a sub-folder
    test_domain = "twemoji"     # left out: that of training
    backbone = "embedded"       # of `openworld list`, a folder, a hub id
    seeds = [1, 2, 3]
    shots = 16                  # images of each base class; [1, 4, 16] sweeps
    views = 8                   # augmented views of each shot
    crop_scale = [0.5, 1.0]     # how much of it a view keeps; [0.08, 1.0]
                                # of images that are not embedded
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

    `choose` decides on validation images of base classes. `operating` chooses, on validation images too, the threshold
    below which a learner calls an image new, by one rule: `{ miss_rate = 0.2 }`, `{ hit_rate = 0.5 }`, or costs such as
    `{ base_missed = 1.0, new_unhit = 5.0, new_share = 0.1 }`; `openworld decide` does so afterwards.

    Class names are checked first (`openworld data audit`); what is wrong with them is reported, and the run goes on.

    Killed and started again, a run goes on where it was and ends with the same records, byte for byte, whichever engine
    and however many workers do it. A finished run takes more: with further learners, seeds, data sets, models,
    estimators or detectors in its spec, only units that these change are computed. `--engine ray` needs `pip install
    'openworld[ray]'`; on a cluster, give folders for `--out` and `--cache` that all nodes share.

    **Several data sets**, in any evaluation: `[[each]]` tables in the spec, each with a name and the fields that are
    otherwise there. Each is a run in OUT/NAME; OUT/report.html has the means over them, ranks and tests
    (`openworld average`). Recognition also takes `datasets = ["dtd", "eurosat"]` in one run.

    ```toml
    [[each]]
    name = "eurosat"
    dataset = "eurosat"
    ```

    **Other questions** have a line at the head of their spec; `examples/NAME-embedded.toml` is a complete spec of most:

    - `protocol = "generalisation"` tunes on one data set and tests on others: the same classes drawn or photographed
      otherwise, and new classes.
    - `protocol = "dynamic"` lets classes and images change step by step after tuning.
    - `protocol = "accuracy-estimation"` trains classifiers, or loads yours, shows them changed images, and compares
      their accuracy as it is estimated without labels with the true one.
    - `protocol = "ood-detection"` sorts images into cells by how far they are from the training images, in meaning and
      in appearance, and asks in every cell whether detectors notice.
    - `protocol = "recognition-by-shift"` does so with learners.
    - `protocol = "ood-benchmark"` compares detectors on named sets, near and far; for one model `openworld detect` does
      so without a spec.
    - `protocol = "decomposed-zero-shot"` splits the features of images into meaning and appearance, and names images by
      either half alone.
    """
    from openworld._errors import OpenworldError

    if not spec.exists():
        raise OpenworldError(f"{spec} does not exist; give the path of a TOML file (openworld run --help shows one).")
    from openworld import datasets
    from openworld.cli._run_reports import run_and_show, run_each
    from openworld.evaluations import read_protocol
    from openworld.evaluations.running import RunOptions
    from openworld.runs import read_given

    if data:
        datasets.use_root(data)
    options = RunOptions(out or Path("runs") / spec.stem, device, workers, cache, allow_corrupt, engine, cache_limit)
    given = read_given(spec)
    if "each" in given:
        run_each(given, options, quiet=quiet, as_json=as_json)
        return
    run_and_show(read_protocol(spec), given, options, quiet=quiet, as_json=as_json)
