"""A spec of every evaluation that is run in a second or two on small drawings; one that is not here fails the tests."""

import io
from functools import cache

import numpy as np
from PIL import Image

COLOURS = {"blue": (30, 60, 220), "green": (30, 160, 60), "red": (220, 30, 30), "yellow": (230, 220, 40)}
LEARNERS = """
views = 1
[[learners]]
learner = "zero-shot"
[[learners]]
learner = "CoOp"
settings = { context_length = 2, schedule = { epochs = 1 } }
"""
SMALL = {
    "recognition": f"""
dataset = "squares"
shots = 2
seeds = [1, 2]
resamples = 2
ratios = [2, 0.5]
{LEARNERS}""",
    "generalisation": f"""
protocol = "generalisation"
source = {{ dataset = "squares" }}
variants = [{{ dataset = "darker" }}]
others = [{{ dataset = "stripes" }}]
shots = 2
seeds = [1, 2]
{LEARNERS}""",
    "dynamic": f"""
protocol = "dynamic"
datasets = [{{ dataset = "squares" }}]
source = {{ dataset = "squares" }}
variants = [{{ dataset = "darker" }}]
others = [{{ dataset = "stripes" }}]
shots = 2
levels = [0, 0.5, 1]
seeds = [1]
{LEARNERS}""",
    "accuracy-estimation": """
protocol = "accuracy-estimation"
sources = [{ dataset = "squares" }]
targets = [{ dataset = "darker" }]
corruptions = ["fog"]
severities = [2, 5]
shots = 3
seeds = [0, 1]
estimators = [{ estimator = "AC" }, { estimator = "GDE" }, { estimator = "FRAP" }]
[[models]]
architecture = "convnet"
recipe = { epochs = 1, side = 28, batch_size = 8 }
""",
    "ood-detection": """
protocol = "ood-detection"
sources = [{ dataset = "squares" }]
pool = [{ dataset = "squares" }, { dataset = "darker" }]
id_part = "validation"
shots = 3
k = 2
levels = 3
least = 2
seeds = [0]
decomposition = { settings = { steps = 2 }, templates = ["a {}.", "a dark {}.", "a small {}.", "half a {}."] }
[[models]]
architecture = "convnet"
recipe = { epochs = 1, side = 28, batch_size = 8 }
detectors = [{ detector = "MSP" }]
[[models]]
backbone = "embedded"
detectors = [{ detector = "MCM" }]
[[models]]
learner = "CoOp"
backbone = "embedded"
settings = { context_length = 2, schedule = { epochs = 1 } }
views = 1
detectors = [{ detector = "own score" }]
""",
    "ood-benchmark": """
protocol = "ood-benchmark"
sources = [{ dataset = "squares" }]
sets = [
  { dataset = "stripes", group = "near" },
  { dataset = "darker", group = "full-spectrum" },
  { dataset = "stripes", group = "far", corruption = "fog", severity = 5 },
]
shots = 3
seeds = [0]
replicates = 4
[[models]]
architecture = "convnet"
recipe = { epochs = 1, side = 28, batch_size = 8 }
detectors = [{ detector = "MSP" }, { detector = "KNN", settings = { k = 2 } }]
[[models]]
backbone = "embedded"
detectors = [{ detector = "MCM" }, { detector = "Energy" }]
[[models]]
learner = "CoOp"
backbone = "embedded"
settings = { context_length = 2, schedule = { epochs = 1 } }
views = 1
""",
    "recognition-by-shift": f"""
protocol = "recognition-by-shift"
sources = [{{ dataset = "squares" }}]
pool = [{{ dataset = "squares" }}, {{ dataset = "darker" }}]
shots = 2
k = 1
levels = 3
least = 2
seeds = [1]
estimators = [{{ estimator = "AC" }}, {{ estimator = "FRAP" }}]
decomposition = {{ settings = {{ steps = 2 }}, templates = ["a {{}}.", "a dark {{}}.", "a big {{}}.", "a red {{}}."] }}
{LEARNERS}""",
    "decomposed-zero-shot": """
protocol = "decomposed-zero-shot"
sets = [{ dataset = "squares" }, { dataset = "darker", looks = ["plain", "fog 3"] }]
methods = [{ method = "LAID", settings = { steps = 2 } }, { method = "PCA" }]
sentences = ["a {}.", "a dark {}.", "a small {}.", "half a {}."]
seeds = [0, 1]
""",
}


def draw(place):
    """Four noisy images of each part and colour: `squares`, half as bright in `darker`, of other names in `stripes`."""
    for path, image in _drawings().items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(image)


@cache
def _drawings():
    """Path -> the PNG file; drawn once."""
    dice, drawn = np.random.default_rng(0), {}
    for root, kind, shade, step in (
        ("squares", "square", 1, 1),
        ("darker", "square", 0.5, 1),
        ("stripes", "rug", 1, 4),
    ):
        for part in ("train", "validation", "test"):
            for name, colour in COLOURS.items():
                for number in range(4):
                    pixels = dice.normal(230, 20, (32, 32, 3))
                    pixels[4 + number : 28 : step, 4:28] = np.array(colour) * shade
                    file = io.BytesIO()
                    Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(file, "png")
                    drawn[f"{root}/{part}/{name} {kind}/{number}.png"] = file.getvalue()
    return drawn
