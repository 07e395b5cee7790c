"""What does a run with learners of all kinds cost to encode: one pass for each kind, against one pass for all?

Takes shots of the embedded world with eight views in the four ways in which learners want them (embeddings alone, with
views, with patch rows, with pixels), into a fresh cache: `encode` for each way, and `encode_together` for all. Both are
timed in turn in this process. Prints how often images are read, how often the image tower sees an image, the
seconds, the ratio, and whether the files are the same bytes.

    python bench/encoding.py [--repeats 3] [--shots 4] [--views 8] [--backbone embedded] [--device cpu]
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from openworld import backbones, datasets
from openworld.features import Encoding, count_looks, encode, encode_together


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--shots", type=int, default=4)
    parser.add_argument("--views", type=int, default=8)
    parser.add_argument("--backbone", default="embedded")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    clip = backbones.load(options.backbone, device=options.device)
    images = datasets.load("emoji-concepts", domain="twemoji", part="train", shots=options.shots, seed=1)
    drawn = {"views": options.views, "seed": 1}
    ways = [Encoding(), Encoding(**drawn), Encoding(**drawn, patches=True), Encoding(**drawn, pixels=True)]
    report(images, ways, compare(clip, images, ways, options.repeats))


def compare(clip, images, ways, repeats: int) -> tuple[dict[str, float], bool]:
    """Median seconds of both, and whether they leave the same bytes."""
    manners = {
        "apart": lambda cache: [encode(clip, images, one, cache=cache) for one in ways],
        "together": lambda cache: encode_together(clip, images, ways, cache=cache),
    }
    seconds, left = {name: [] for name in manners}, {}
    for _ in range(repeats):
        for name, manner in manners.items():
            with tempfile.TemporaryDirectory() as folder:
                started = time.perf_counter()
                manner(Path(folder))
                seconds[name].append(time.perf_counter() - started)
                left[name] = {file.relative_to(folder): file.read_bytes() for file in Path(folder).glob("*/*")}
    return {name: statistics.median(times) for name, times in seconds.items()}, left["apart"] == left["together"]


def report(images, ways, found) -> None:
    """The table."""
    (apart, together), same = found[0].values(), found[1]
    count = len(images)
    print("          images read   tower passes   seconds")
    print(f"apart     {count * len(ways):13,} {count * sum(count_looks([one]) for one in ways):14,} {apart:9.1f}")
    print(f"together  {count:13,} {count * count_looks(ways):14,} {together:9.1f}")
    print(f"apart takes {apart / together:.2f} times as long; the files are {'the same' if same else 'NOT THE SAME'}")


if __name__ == "__main__":
    main()
