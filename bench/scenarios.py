"""Dynamic scenarios at ImageNet's size, from cached features: how long, how much memory, against a run per level.

    python bench/scenarios.py [--images 50000] [--classes 1000] [--learners 12] [--threads 1]

Random features and text features stand in for a backbone's; everything after them is the code that runs use: one matrix
of logits per learner, slices of it in every view, metrics and tables of predictions. Four scenarios with six levels: of
classes on one set of images, and against a second set as large (a variant; another data set). Of twelve learners one
has detection scores of its own and one depends on the other names (as GMoP and DeCoOp do), so that they are asked again
in every view. The peer, for one plain learner: image times text features in every view anew in batches of 100, a dict
of results per class filled image by image, as the usual few-shot evaluators do, and scikit-learn's AUROC.
"""

import argparse
import resource
import time
from collections import defaultdict
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import torch
from sklearn.metrics import roc_auc_score

from openworld.evaluations.dynamic import scenarios
from openworld.evaluations.dynamic.curves import SCENARIOS
from openworld.evaluations.dynamic.evaluation import predict_views, score_view, tables
from openworld.evaluations.views import ImagePool, pool_of_two
from openworld.features import Features
from openworld.learners import FittedLearner
from openworld.learners.engine.text_bank import NameSets, TextBank, answer_by_cosine

DIMENSION = 512
SEED = 1


@dataclass(frozen=True)
class StandIn:
    """A learner with random text features, one row per name it was made for."""

    rows: dict[str, int]
    text: torch.Tensor
    kind: str = "plain"
    consumes: str = "embeddings"
    name: str = "stand-in"

    @property
    def depends_on_other_names(self) -> bool:
        return self.kind == "dependent"

    def text_bank(self, clip, parameters, names: NameSets) -> TextBank:
        chosen = self.text[[self.rows[name] for name in names.all]]
        return TextBank(chosen, len(names.base), torch.tensor(100.0))

    def answer(self, clip, parameters, images, bank: TextBank):
        answer = answer_by_cosine(images.embeddings, bank)
        return replace(answer, baseness=answer.baseness / 2) if self.kind == "own scores" else answer


def features(images: int, classes: int, name: str, text: np.ndarray, generator) -> Features:
    """As many images of each class, near their class's text feature."""
    labels = np.arange(images) % classes
    embeddings = generator.normal(size=(images, DIMENSION)).astype(np.float32) / DIMENSION**0.5
    embeddings += 0.15 * text[labels]
    rows = np.arange(images)
    return Features(embeddings, labels, rows // 2, rows, tuple(f"{name} {one}" for one in range(classes)), name)


def learners(names: tuple[str, ...], text: np.ndarray, count: int, generator):
    """Fitted learners, one at a time."""
    rows = {name: row for row, name in enumerate(names)}
    clip = SimpleNamespace(
        config=SimpleNamespace(joint_dimension=DIMENSION),
        device=torch.device("cpu"),
        dtype=torch.float32,
        name="none",
        encode_text=None,  # never asked: the stand-ins bring their own rows
    )
    for number in range(count):
        kind = {1: "own scores", 2: "dependent"}.get(count - number, "plain")
        noise = generator.normal(size=text.shape).astype(np.float32) / DIMENSION**0.5
        own = torch.nn.functional.normalize(torch.from_numpy(text + noise), dim=-1)
        yield FittedLearner(StandIn(rows, own, kind), clip, names, {})


def stages(images: int, classes: int):
    """(names of the runs, pool, runs) of all scenarios, and all names with their text features."""
    generator = np.random.default_rng(SEED)
    text = generator.normal(size=(2 * classes, DIMENSION)).astype(np.float32) / DIMENSION**0.5
    source = features(images, classes, "class", text[:classes], generator)
    variant = replace(features(images, classes, "class", text[:classes], generator), fingerprint="variant")
    other = features(images, classes, "other", text[classes:], generator)
    order, half = scenarios.class_order(classes, SEED), (classes + 1) // 2
    one, shift = ImagePool((source,), source.classnames), pool_of_two(source, variant, same_names=True)
    two = pool_of_two(source, other, same_names=False)
    of_classes = [
        make(one.labels, order[:half], order[half:]) for make in (scenarios.emerging_classes, scenarios.varying_ratio)
    ]
    shifted = scenarios.distribution_shift(shift.labels, shift.origin == 1, order, SEED)
    limits = {"class_limit": classes, "image_limit": images}
    taken_over = scenarios.co_evolution(two.labels, range(classes), range(classes, 2 * classes), SEED, **limits)
    played = [(SCENARIOS[:2], one, of_classes), (SCENARIOS[2:3], shift, [shifted])]
    return [*played, (SCENARIOS[3:], two, [taken_over])], two.names, text


def ours(fitted: FittedLearner, stages) -> dict:
    """All views by the code of the runs: {scenario: accuracies}, with the tables of predictions made and let go."""
    found = {}
    for names, pool, runs in stages:
        rows = []
        for name, run, answers in zip(names, runs, predict_views(fitted, pool, runs), strict=True):
            views = []
            for view, answer in zip(run.views, answers, strict=True):
                measured, _, kept = score_view(view, answer, pool, run, "", {})
                numbers = {row.metric.key: row.value.value for row in measured}
                views.append((numbers["accuracy"], numbers["auroc"]))
                rows.append(kept)
            found[name] = views
        tables(rows)
    return found


def peer(fitted: FittedLearner, stages) -> dict:
    """The same numbers by a run per view."""
    found = {}
    for names, pool, runs in stages:
        embeddings, labels = np.concatenate([part.embeddings for part in pool.parts]), pool.labels
        for name, run in zip(names, runs, strict=True):
            found[name] = [peer_view(fitted, pool, run, view, embeddings, labels) for view in run.views]
    return found


@torch.no_grad()
def peer_view(fitted: FittedLearner, pool: ImagePool, run, view, embeddings: np.ndarray, labels: np.ndarray):
    is_new = np.isin(view.classes, run.new)
    classes = np.concatenate([view.classes[~is_new], view.classes[is_new]])
    text, base = fitted.learner.text[classes], int((~is_new).sum())
    results, scores, new = defaultdict(list), [], set(run.new.tolist())
    for start in range(0, view.size, 100):
        rows = view.images[start : start + 100]
        batch = torch.nn.functional.normalize(torch.from_numpy(embeddings[rows]), dim=-1)
        logits = 100 * batch @ text.T
        probabilities = logits.softmax(-1)
        scores += probabilities[:, :base].max(-1).values.tolist() if base else []
        for prediction, label in zip(logits.argmax(-1), torch.from_numpy(labels[rows]), strict=True):
            results[label.item()].append(int(classes[prediction.item()] == label.item()))
    correct = [one for each in results.values() for one in each]
    told = [int(label) not in new for label in labels[view.images]]
    both = base and base < len(classes)
    return sum(correct) / len(correct), float(roc_auc_score(told, scores)) if both else None


def gigabytes() -> float:
    """The most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def timed(run):
    started, clock = time.perf_counter(), time.process_time()
    return run(), time.perf_counter() - started, time.process_time() - clock


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("images", 50_000), ("classes", 1_000), ("learners", 12), ("threads", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    played, names, text = stages(options.images, options.classes)
    views = sum(len(run.views) for _, _, runs in played for run in runs)
    print(f"{options.images:,} images x {options.classes:,} classes, {views} views in 4 scenarios, ", end="")
    print(f"{options.learners} learners, {options.threads} thread(s); before the first: {gigabytes():.1f} GB")
    first, elapsed, busy = None, 0.0, 0.0
    for fitted in learners(names, text, options.learners, np.random.default_rng(SEED)):
        found, wall, cpu = timed(lambda fitted=fitted: ours(fitted, played))
        first = first or (fitted, found, cpu)
        elapsed, busy = elapsed + wall, busy + cpu
        print(f"  {fitted.learner.kind:10} {wall:6.1f} s, of the processor {cpu:6.1f} s; so far {gigabytes():.1f} GB")
    print(f"all learners: {elapsed:.0f} s ({busy:.0f} s of the processor), at most {gigabytes():.1f} GB")
    fitted, found, cpu = first
    expected, _, slow = timed(lambda: peer(fitted, played))
    print(f"a run per view, one learner: {slow:.0f} s of the processor, {slow / cpu:.1f} times as long")
    print(f"largest difference of an accuracy or AUROC: {largest_difference(found, expected):.1e}")


def largest_difference(found: dict, expected: dict) -> float:
    told, wanted = ([number for each in one.values() for view in each for number in view] for one in (found, expected))
    assert [one is None for one in told] == [one is None for one in wanted]
    return max(abs(one - other) for one, other in zip(told, wanted, strict=True) if one is not None)


if __name__ == "__main__":
    main()
