"""Train the small CLIP that ships inside openworld, on the emoji images that ship with it.

    OMP_NUM_THREADS=1 python tools/train_emoji_clip.py FOLDER --minutes 90

FOLDER receives the checkpoint, the log and the tokenizer; starting again resumes from them. Every few minutes, and at
the end, the averaged weights are evaluated and written to --export. The recipe is in tools/emoji_clip/.
"""

import argparse
import json
import time
from pathlib import Path

import torch
from emoji_clip.captions import Captions, corpus, pad
from emoji_clip.evaluate import Evaluation
from emoji_clip.export import export_model
from emoji_clip.recipe import Recipe, model_config
from emoji_clip.tokens import END, load_tokenizer, train_tokenizer
from emoji_clip.train import Trainer
from emoji_clip.world import read_world

from openworld.backbones.two_tower import TwoTower

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "openworld"
LOGGED_STYLES = ("noto", "emojione", "twemoji", "fluent-emoji-high-contrast", "emojione-monotone")


def main() -> None:
    """Train, or go on training, until the recipe is done."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=float, default=90.0)
    parser.add_argument("--samples", type=int, default=4_000_000)
    parser.add_argument("--save-every", type=float, default=10.0, help="minutes between checkpoints")
    parser.add_argument("--export", type=Path, default=PACKAGE / "backbones" / "embedded")
    given = parser.parse_args()
    torch.set_num_threads(1)
    given.folder.mkdir(parents=True, exist_ok=True)
    trainer = build(given.folder, Recipe(samples=given.samples, minutes=given.minutes))
    checkpoint = given.folder / "checkpoint.pt"
    if checkpoint.exists():
        trainer.resume(checkpoint)
    run(trainer, checkpoint, given.export, given.save_every * 60)


def build(folder: Path, recipe: Recipe) -> Trainer:
    """A trainer on the shipped images; the tokenizer is trained once and kept in `folder`."""
    world = read_world(PACKAGE / "datasets" / "emoji")
    stored = folder / "tokenizer.json"
    if not stored.exists():
        train_tokenizer(corpus(world.concepts)).save(str(stored))
    tokenizer = load_tokenizer(stored)
    config = model_config(tokenizer.get_vocab_size(), tokenizer.token_to_id(END))
    return Trainer(world, Captions(world.concepts, tokenizer), config, recipe)


def run(trainer: Trainer, checkpoint: Path, export: Path, pause: float) -> None:
    """Step until done; log every 100 steps, save and evaluate every `pause` seconds and before the joint phase."""
    last, logged, counted = time.monotonic(), time.monotonic(), trainer.samples
    joint, recent = trainer.progress >= trainer.recipe.joint_from, []
    while trainer.progress < 1:
        recent.append(trainer.step())
        if trainer.steps % 100 == 0:
            now = time.monotonic()
            losses = {
                name: sum(each[name] for each in recent) / len(recent) for name in recent[-1] if name in recent[0]
            }
            recent.clear()
            log(trainer, losses | {"per_second": (trainer.samples - counted) / (now - logged)})
            logged, counted = now, trainer.samples
        if trainer.steps % 500 == 0:
            trainer.save(checkpoint)
        if not joint and trainer.progress >= trainer.recipe.joint_from:
            joint = True
            trainer.save(checkpoint.with_name("before_joint.pt"))
        if time.monotonic() - last > pause:
            start = time.monotonic()
            finish(trainer, checkpoint, export)
            last = time.monotonic()
            trainer.seconds += last - start
    finish(trainer, checkpoint, export)


def finish(trainer: Trainer, checkpoint: Path, export: Path) -> None:
    """Checkpoint; evaluate the current and the averaged weights; export those that name source images better."""
    trainer.save(checkpoint)
    found = []
    for name, model in (("current", trainer.model), ("averaged", trainer.average)):
        evaluation = evaluate(trainer, model)
        scale, loss = evaluation.best_scale()
        figures = {style: evaluation.accuracy(style, "clean", evaluation.seen, 100) for style in LOGGED_STYLES}
        log(trainer, {f"{name} {key}": value for key, value in (figures | {"scale": scale, "loss": loss}).items()})
        found.append((loss, scale, model))
    _, scale, model = min(found, key=lambda candidate: candidate[0])
    export_model(model, trainer.captions.tokenizer, scale, export)


def evaluate(trainer: Trainer, model: TwoTower) -> Evaluation:
    """The evaluation of one set of weights of a trainer."""
    tokenizer = trainer.captions.tokenizer

    def encode_texts(texts: list[str]) -> torch.Tensor:
        return model.text(torch.from_numpy(pad([encoding.ids for encoding in tokenizer.encode_batch(texts)])))

    return Evaluation(trainer.world, model.image, encode_texts)


def log(trainer: Trainer, figures: dict[str, float]) -> None:
    """One JSON line."""
    state = {"steps": trainer.steps, "samples": trainer.samples, "progress": trainer.progress}
    print(json.dumps({name: round(value, 4) for name, value in (state | figures).items()}), flush=True)


if __name__ == "__main__":
    main()
