"""How fast is one step of a learned context on the packed text tower, against full-length sentences?

One CoOp step (Zhou et al., 2022): embed 100 ImageNet class names behind 16 learned rows with the text tower of
ViT-B/16 (random weights: only sizes matter) and differentiate with respect to the context. The peer is the same step
on all 77 positions of every sentence, in this process, alternating. Prints the ratio of the medians, the ceiling that
the names' lengths allow, and how far the two gradients are apart.

    python bench/text_tower.py [--repeats 5] [--threads 1] [--device cpu]
"""

import argparse
import statistics
import time

import torch

from openworld.backbones import TextConfig
from openworld.backbones.blocks import run_blocks
from openworld.backbones.packed_sentences import encode_packed, pack_sentences
from openworld.backbones.prompts import pad_tokens
from openworld.backbones.towers import TextTower

# Every tenth ImageNet class name in open_clip's list, under its number of tokens in CLIP's byte-pair vocabulary
# together with the full stop (start and end tokens not counted).
NAMES_BY_TOKENS = {
    2: """
flamingo, jaguar, ant, zebra, otter, eel, banjo, basketball, candle, greenhouse, hook, microphone, vespa,
quilt, refrigerator, sneaker, mop, volleyball, baguette, orange, mountain, volcano
""",
    3: """
tench, brambling, American dipper, American alligator, night snake, harvestman, black grouse, black swan,
flatworm, dunlin, sea lion, Afghan Hound, Tibetan Terrier, Sussex Spaniel, Siberian Husky, Chow Chow, grey
fox, tiger beetle, titi monkey, academic gown, apiary, beer bottle, bobsleigh, breakwater, chain mail,
cliff dwelling, container ship, infant bed, digital clock, drilling rig, espresso machine, football
helmet, mobile home, bullock cart, paper towel, pill bottle, farm plow, power drill, schooner, shopping
basket, slot machine, steam locomotive, stretcher, teddy bear, tobacco shop, tricycle, unicycle, water
tower, wooden spoon, traffic light, spaghetti squash, chocolate syrup
""",
    4: """
American bullfrog, Carolina anole, lorikeet, fiddler crab, Irish Wolfhound, American Staffordshire
Terrier, Shetland Sheepdog, Alaskan tundra wolf, damselfly, cottontail rabbit, Alpine ibex, guenon,
automated teller machine, T-shirt, laptop computer, manhole cover, baby pacifier, pencil sharpener,
keyboard space bar, horse chestnut seed
""",
    5: "Sealyham Terrier, German Shorthaired Pointer, slip-on shoe",
    6: "gas mask or respirator, hand-held computer",
    8: "Appenzeller Sennenhund",
}
CONTEXT = 16
START, END, PLACEHOLDER = 49406, 49407, 343


def sentences() -> list[list[int]]:
    """Token ids with the real lengths; which word a token is does not change the work."""
    random = torch.Generator().manual_seed(0)
    lengths = [tokens for tokens, names in NAMES_BY_TOKENS.items() for _ in names.split(",")]
    order = torch.randperm(len(lengths), generator=random).tolist()
    names = [torch.randint(400, 40000, (lengths[place],), generator=random).tolist() for place in order]
    return [[START, *[PLACEHOLDER] * CONTEXT, *name, END] for name in names]


def operations(config: TextConfig, tokens: list[list[int]]) -> tuple[int, int]:
    """Multiply-adds of one forward pass: all positions of every sentence, and what the packed pass needs."""
    width, blocks, positions = config.width, config.layers, config.positions
    row, pair = 4 * width**2 + 2 * width * config.mlp_width, 2 * width
    full = len(tokens) * blocks * (positions * row + positions * (positions + 1) // 2 * pair)
    own = [len(sentence) - 1 - CONTEXT for sentence in tokens]
    rows = CONTEXT + sum(own)
    seen = sum(range(2, CONTEXT + 2)) + sum(sum(range(CONTEXT + 2, CONTEXT + 2 + length)) for length in own)
    seen_by_ends = sum(1 + CONTEXT + length for length in own)
    last = rows * 2 * width**2 + len(tokens) * (row - 2 * width**2) + seen_by_ends * pair
    return full, (blocks - 1) * (rows * row + seen * pair) + last


def full_pass(tower: TextTower, embedded: torch.Tensor, context: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """The peer: every sentence in its own 77 rows."""
    rows = [embedded[:, :1], context.expand(len(embedded), -1, -1), embedded[:, 1 + CONTEXT :]]
    rows = run_blocks(tower.blocks, torch.cat(rows, dim=1) + tower.positions, tower.attend)
    return tower.finish(rows[torch.arange(len(rows), device=rows.device), ends])


def step(encode, context: torch.Tensor, direction: torch.Tensor) -> tuple[float, torch.Tensor]:
    """Seconds and gradient of one forward and backward pass."""
    # Processor time on a CPU: a busy machine then slows neither side's figure more than the other's.
    clock = time.perf_counter if context.is_cuda else time.process_time
    context.grad = None
    started = clock()
    (encode() * direction).sum().backward()
    if context.is_cuda:
        torch.cuda.synchronize()
    return clock() - started, context.grad


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    config, tokens = TextConfig(), sentences()
    tower = TextTower(config, 512).to(options.device).requires_grad_(False)
    padded = pad_tokens(tokens, config.positions).to(options.device)
    embedded, ends = tower.tokens(padded), tower.pooled_position(padded)
    packed = pack_sentences(tower, [tokens], CONTEXT)
    context = (0.02 * torch.randn(CONTEXT, config.width, device=options.device)).requires_grad_()
    direction = torch.randn(len(tokens), 512, device=options.device)
    passes = {
        "full": lambda: full_pass(tower, embedded, context, ends),
        "packed": lambda: encode_packed(tower, (context + tower.positions[1 : 1 + CONTEXT])[None], packed)[0],
    }
    seconds = {name: [] for name in passes}
    for repeat in range(options.repeats + 1):
        gradients = {}
        for name, encode in passes.items():
            elapsed, gradients[name] = step(encode, context, direction)
            if repeat:  # the first round warms up
                seconds[name].append(elapsed)
    report(config, tokens, {name: statistics.median(values) for name, values in seconds.items()}, gradients)


def report(config: TextConfig, tokens: list[list[int]], median: dict, gradients: dict) -> None:
    """Print the comparison."""
    full, packed = operations(config, tokens)
    rows = CONTEXT + sum(len(sentence) - 1 - CONTEXT for sentence in tokens)
    ratio, ceiling = median["full"] / median["packed"], full / packed
    gap = (gradients["full"] - gradients["packed"]).abs().max() / gradients["full"].abs().max()
    print(f"names {len(tokens)}, context {CONTEXT}: {rows} rows instead of {len(tokens) * config.positions}")
    print(f"full     {median['full']:8.3f} s per step   {full / 1e9:6.1f} G multiply-adds forward")
    print(f"packed   {median['packed']:8.3f} s per step   {packed / 1e9:6.1f} G multiply-adds forward")
    print(f"ratio    {ratio:8.2f}")
    print(f"ceiling  {ceiling:8.2f}   ceiling / ratio {ceiling / ratio:.2f} (goal: at most 1.3)")
    print(f"gradient difference {gap:.1e} of the largest entry")


if __name__ == "__main__":
    main()
