"""Without torch, tokenizers and huggingface_hub: what works, and the one sentence of what does not.

One process does it all; in it these packages cannot be imported, whether they are installed or not.
"""

import pytest
from without_torch import without_torch

from openworld.cli.app import COMMANDS

pytestmark = pytest.mark.base

WORK = {
    **{" ".join([*words, "--help"]): 0 for words in [(), *COMMANDS]},
    "--version": 0,
    "score mine.csv --out one": 0,
    "score mine.csv --out two --json": 0,
    "report one": 0,
    "compare one two": 0,
    "average one two": 0,
    "check one --require openworld_auc>=0": 0,
    "check one --against two --margin 0.5": 0,
    "cite one": 0,
    "decide one --miss-rate 0.5": 0,
    "label plan stream.csv --n 12 --out plan": 0,
    "label read plan": 2,  # nobody has labelled yet
    "estimate --source scores.csv --target scores.csv --estimator AC --out estimated": 0,
    "estimate fit --source scores.csv --images 20 --out fitted": 0,
    "estimate watch fitted scores.csv": 4,
    "detect --scores detected.csv --out detect": 0,
    "detect --scores cells.csv --least 1 --levels 3 --out by-shift": 0,
    "list": 0,
    "list learners detectors classifiers evaluations": 0,
    "list --cite CoOp MSP": 0,
    "doctor": 0,
    "cache --cache kept": 0,
    "new learner MyLearner": 0,
    "new detector MyDetector": 0,
    "new estimator MyEstimator": 0,
    "new evaluation MyEvaluation": 0,
    "new recognition": 0,
    "new ood-benchmark": 0,
    "data audit emoji-concepts": 0,
}
"""Command -> exit code; later ones read what earlier ones wrote."""

REFUSED = {
    "demo --out demo": "demo",
    "run demo --out demo": "run",
    "run spec.toml --out demo": "run",
    "reproduce openworldauc --data photos --out paper": "reproduce",
    "predict embedded emoji-concepts/twemoji": "predict",
    "predict ViT-B/16 emoji-concepts/twemoji": "predict",
    "estimate --model embedded --source emoji-concepts/twemoji --target emoji-concepts/noto": "estimate",
    "detect --model embedded --id emoji-concepts/twemoji --ood near=emoji-concepts-b/twemoji": "detect",
    "shift --reference emoji-concepts/twemoji --test emoji-concepts/noto": "shift",
    "synthesize --reference emoji-concepts/twemoji --images emoji-concepts/noto --out painted": "synthesize",
    "doctor ViT-B/16": "doctor",
    "data plan openworldauc": "data plan",
}
"""Command -> what its sentence calls it."""

LINES = {
    "import openworld as ow; assert {'detect', 'learners', 'predict'} <= set(dir(ow))": "",
    "import openworld as ow; ow.learners, ow.detectors, ow.shifts, ow.testing, ow.backbones.BACKBONES": "",
    "from openworld.estimators import ESTIMATORS, AC": "",
    "from openworld.metrics import openworld_auc; openworld_auc([0.9], [1], [0.1], [1])": "",
    "from openworld.testing import check_estimator": "",
    "from openworld.detectors import MSP": "openworld.detectors.MSP needs torch",
    "from openworld.detectors import make_detector": "openworld.detectors.make_detector needs torch",
    "import openworld as ow; ow.learners.CoOp": "openworld.learners.CoOp needs torch",
    "import openworld as ow; ow.learners.find_learner('CoOp')": "needs torch",
    "import openworld as ow; ow.shifts.nearest": "openworld.shifts.nearest needs torch",
    "import openworld as ow; ow.backbones.load": "openworld.backbones.load needs torch",
    "import openworld as ow; ow.run('demo')": "run needs torch",
    "import openworld as ow; ow.predict('embedded', 'emoji-concepts/twemoji')": "predict needs torch",
    "from openworld.classifiers import load": "openworld.classifiers.load needs torch",
    "from openworld.testing import check_learner": "openworld.testing.check_learner needs torch",
}
"""Line of Python -> what is said, "" where it works."""


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """Command or line -> what came of it."""
    folder = tmp_path_factory.mktemp("base")
    parts = ("test", "validation")
    rows = [f"{side},{score},{right},{part}\n" for part in parts for side, score, right in SCORED * 6]
    (folder / "mine.csv").write_text("".join(["side,score,correct,part\n", *rows]))
    logits = "a,2,0.5\na,1,-1\nb,-0.5,1.5\nb,1.5,0\n" * 5
    (folder / "scores.csv").write_text(f"label,logits:a,logits:b\n{logits}")
    stream = "".join(f"{i},{i % 7 / 7},{'ab'[i % 2]},c\n" for i in range(60))
    (folder / "stream.csv").write_text(f"id,score,base_name,new_name\n{stream}")
    sets = [("id", "mine", 2), ("near", "cars", 1), ("far", "textures", 0)]
    cells = [f"{group},{name},{by + i % 5 / 3},{i % 9},{i % 8}\n" for group, name, by in sets for i in range(40)]
    scores = "".join(",".join(row.split(",")[:3]) + "\n" for row in cells)
    (folder / "detected.csv").write_text(f"group,set,MSP\n{scores}")
    (folder / "cells.csv").write_text("group,set,MSP,semantic,covariate\n" + "".join(cells))
    (folder / "spec.toml").write_text('dataset = "emoji-concepts"\nlearners = [{ learner = "zero-shot" }]\n')
    (folder / "photos").mkdir()
    return without_torch(folder, [*WORK, *REFUSED], LINES)


SCORED = [("base", 0.9, 1), ("base", 0.2, 0), ("base", 0.7, 1), ("new", 0.1, 1), ("new", 0.3, 0)]


@pytest.mark.parametrize("command", WORK)
def test_these_commands_work(done, command):
    code, out, errors, exception = done[command]
    assert (code, exception) == (WORK[command], "None"), out + errors
    assert (code == 2 or out) and "torch" not in errors


@pytest.mark.parametrize("command", REFUSED)
def test_these_say_in_a_sentence_what_to_install(done, command):
    code, _, errors, exception = done[command]
    assert (code, exception) == (2, "None"), errors
    sentence = f"openworld {REFUSED[command]} needs torch, which is not installed: pip install 'openworld[models]'."
    assert errors == f"openworld: {sentence}\n"


@pytest.mark.parametrize("line", LINES)
def test_python_works_or_says_the_same(done, line):
    kind, said = done[line]
    assert kind == ("NotInstalled" if LINES[line] else ""), said
    assert LINES[line] in said and ("pip install 'openworld[models]'" in said or not LINES[line])
