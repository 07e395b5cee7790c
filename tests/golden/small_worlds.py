"""Small inputs of everything that openworld shows: noisy drawings in folders, and specs of all evaluations on them."""

import io
from functools import cache

import numpy as np
from PIL import Image

COLOURS = {"blue": (30, 60, 220), "green": (30, 160, 60), "red": (220, 30, 30), "yellow": (230, 220, 40)}
LEARNERS = """
views = 1
seeds = [1, 2]
[[learners]]
learner = "zero-shot"
[[learners]]
learner = "CoOp"
settings = { context_length = 2, schedule = { epochs = 2 } }
[[learners]]
learner = "KgCoOp"
settings = { context_length = 2, schedule = { epochs = 1 } }
"""
CONVNET = """
[[models]]
architecture = "convnet"
recipe = { epochs = 3, side = 28, batch_size = 8 }
"""
DECOMPOSITION = """
decomposition = { settings = { steps = 2 }, templates = ["a {}.", "a dark {}.", "a small {}.", "half a {}."] }
"""
SPECS = {
    "recognition": f"""
dataset = "squares"
shots = 2
resamples = 2
operating = {{ miss_rate = 0.2 }}
{LEARNERS}""",
    "recognition-of-several-sets": """
datasets = ["squares", "stripes", "darker"]
shots = [1, 2]
resamples = 1
ratios = [2, 0.5]
views = 1
seeds = [1, 2]
[[learners]]
learner = "zero-shot"
[[learners]]
learner = "CoOp"
settings = { context_length = 2, schedule = { epochs = 2 } }
""",
    "generalisation": f"""
protocol = "generalisation"
source = {{ dataset = "squares" }}
variants = [{{ dataset = "darker" }}, {{ dataset = "fainter" }}]
others = [{{ dataset = "stripes" }}]
shots = 2
{LEARNERS}""",
    "dynamic": f"""
protocol = "dynamic"
datasets = [{{ dataset = "squares" }}]
source = {{ dataset = "squares" }}
variants = [{{ dataset = "darker" }}, {{ dataset = "fainter" }}]
others = [{{ dataset = "stripes" }}]
shots = 2
{LEARNERS}""",
    "accuracy-estimation": f"""
protocol = "accuracy-estimation"
sources = [{{ dataset = "squares" }}]
targets = [{{ dataset = "darker", row = "dark" }}, {{ dataset = "fainter", row = "faint" }}]
corruptions = ["fog", "contrast"]
severities = [2, 5]
shots = 3
seeds = [0, 1]
references = [{{ name = "CLIP", backbone = "embedded" }}, {{ name = "uniform" }}]
estimators = [
  {{ estimator = "AC" }}, {{ estimator = "DoC" }}, {{ estimator = "GDE" }}, {{ estimator = "ATC-MC" }},
  {{ estimator = "FRAP" }}, {{ estimator = "FRAP", label = "FRAP, uniform", reference = "uniform" }},
  {{ estimator = "nuclear-norm" }},
]
{CONVNET}
[[models]]
architecture = "resnet-8"
checkpoints = [1, 2]
recipe = {{ epochs = 2, side = 16, batch_size = 8 }}
""",
    "ood-detection": f"""
protocol = "ood-detection"
sources = [{{ dataset = "squares" }}]
pool = [{{ dataset = "squares" }}, {{ dataset = "darker" }}, {{ dataset = "stripes" }}]
id_part = "validation"
shots = 3
k = 2
levels = 3
least = 2
seeds = [0, 1]
{DECOMPOSITION}{CONVNET}
detectors = [{{ detector = "MSP" }}, {{ detector = "KNN", settings = {{ k = 2 }} }}]
[[models]]
backbone = "embedded"
detectors = [{{ detector = "MCM" }}]
[[models]]
learner = "CoOp"
backbone = "embedded"
settings = {{ context_length = 2, schedule = {{ epochs = 1 }} }}
views = 1
detectors = [{{ detector = "own score" }}]
""",
    "ood-benchmark": f"""
protocol = "ood-benchmark"
sources = [{{ dataset = "squares" }}]
sets = [
  {{ dataset = "stripes", group = "near" }},
  {{ dataset = "darker", group = "full-spectrum" }},
  {{ dataset = "fainter", group = "covariate" }},
  {{ dataset = "stripes", group = "far", corruption = "fog", severity = 5 }},
]
shots = 3
seeds = [0, 1]
replicates = 20
{CONVNET}
detectors = [{{ detector = "MSP" }}, {{ detector = "KNN", settings = {{ k = 2 }} }}]
[[models]]
backbone = "embedded"
detectors = [{{ detector = "MCM" }}, {{ detector = "Energy" }}]
[[models]]
learner = "CoOp"
backbone = "embedded"
settings = {{ context_length = 2, schedule = {{ epochs = 1 }} }}
views = 1
""",
    "ood-benchmark-with-search": f"""
protocol = "ood-benchmark"
sources = [{{ dataset = "squares" }}]
sets = [{{ dataset = "stripes", group = "near" }}]
validation_sets = [{{ dataset = "rings" }}]
shots = 3
seeds = [0, 1]
replicates = 20
{CONVNET}
detectors = [{{ detector = "KNN", choose = {{ k = [1, 2, 5] }} }}, {{ detector = "MSP" }}]
""",
    "recognition-by-shift": f"""
protocol = "recognition-by-shift"
sources = [{{ dataset = "squares" }}]
pool = [{{ dataset = "squares" }}, {{ dataset = "darker" }}, {{ dataset = "fainter" }}]
shots = 2
k = 1
levels = 3
least = 2
estimators = [{{ estimator = "AC" }}, {{ estimator = "FRAP" }}]
{DECOMPOSITION}{LEARNERS}""",
    "decomposed-zero-shot": """
protocol = "decomposed-zero-shot"
sets = [{ dataset = "squares" }, { dataset = "darker", looks = ["plain", "fog 3"] }]
methods = [{ method = "LAID", settings = { steps = 2 } }, { method = "PCA" }]
sentences = ["a {}.", "a dark {}.", "a small {}.", "half a {}."]
seeds = [0, 1]
""",
}
"""Name of a case -> a spec that is run in a second or two."""


def draw(place):
    """Six noisy images of each part and of eight classes: `squares`, `darker`, `fainter`; others `stripes`, `rings`."""
    for path, image in _drawings().items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(image)


@cache
def _drawings() -> dict[str, bytes]:
    """Path in the world -> the PNG file; drawn once, for worlds are made by the dozen."""
    dice, drawn = np.random.default_rng(0), {}
    worlds = {"squares": ("square", "sign", 1), "darker": ("square", "sign", 0.5)}
    worlds |= {"fainter": ("square", "sign", 1.6), "stripes": ("rug", "flag", 1), "rings": ("wheel", "coin", 1)}
    for root, (kind, other, shade) in worlds.items():
        for part in ("train", "validation", "test"):
            for name, colour in COLOURS.items():
                for what, step in ((kind, 4 if root == "stripes" else 1), (other, 3)):
                    for number in range(6):
                        pixels = dice.normal(210, 45, (32, 32, 3))
                        mixed = np.array(colour) * shade + dice.normal(0, 60, 3)
                        pixels[4 + number : 28 : step, 4:28] = mixed + dice.normal(0, 30, (24, 3))
                        file = io.BytesIO()
                        Image.fromarray(pixels.clip(0, 255).astype(np.uint8)).save(file, "png")
                        drawn[f"{root}/{part}/{name} {what}/{number}.png"] = file.getvalue()
    return drawn
