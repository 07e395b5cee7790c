"""A pool of a million images through OOD detection on one machine: how fast, how full the cores, how much memory, and
what a kill costs.

    python bench/score_pool.py [--images N] [--workers W] [--kill SHARE] [--folder PATH] [--keep]

N JPEG files of 32 x 32 pixels lie as the released lists of IS-OOD have them (class folders, and a list for each of 64
cells); a small network with 10 classes and 20,000 training images detects them by the detectors of `DETECTORS`.
`openworld run` does it twice, in processes that are started as a user starts them: once killed (SIGKILL, all its
processes) when SHARE of the shards are there and started again, once without interruption. Both must leave the same
bytes: record, tables, results, and every file of scores in the cache. Prints one table; leaves nothing behind without
--keep.

A million files take some 4 GB of disk and as many inodes, and on two cores a quarter of an hour.
"""

import argparse
import hashlib
import io
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

NAMES = ("apple", "bridge", "candle", "daisy", "engine", "feather", "guitar", "hammer", "island", "jacket")
TRAINING, TESTED = 20_000, 5_000  # more than one shard of what detectors learn from
LEVELS, SIDE = 8, 32
SHARD = 4096  # images of a shard of scores
IN_A_FOLDER, DRAWN = 1_000, 50  # images of a class of the pool, and how many of them are drawn
SEEN = 16  # pixels along each side that the network sees
DETECTORS = {"MSP": "", "Energy": "", "MDS": "", "KNN": "bank = 4000", "DICE": "", "ASH": "", "GradNorm": ""}
SPEC = """
protocol = "ood-detection"
classes = "all"
shots = 0
seeds = [0]
sources = [{{ dataset = "{root}/home" }}]
cells = {{ lists = ["{root}/imglist"], images = "{root}/pool" }}
[[models]]
weights = "{root}/network"
label = "network"
detectors = [{detectors}]
"""


@dataclass(frozen=True)
class Measured:
    """What one run took: seconds and processor seconds, peak memory in bytes, what it said, and when it ended."""

    seconds: float
    processor: float
    while_scoring: int
    at_the_end: int
    said: str
    code: int


def contents(kind: int, count: int) -> list[bytes]:
    """Return JPEG files of a few colours that say which kind they are, and noise that says which image."""
    luck = np.random.default_rng(kind)
    files = []
    for _ in range(count):
        pixels = np.clip(luck.normal(40 + 17 * (kind % 11), 40, (8, 8, 3)), 0, 255).astype(np.uint8)
        file = io.BytesIO()
        Image.fromarray(pixels).resize((SIDE, SIDE), Image.Resampling.BILINEAR).save(file, "JPEG", quality=80)
        files.append(file.getvalue())
    return files


def draw_class(folder: Path, kind: int, first: int, count: int) -> None:
    """Write the images of one class: so many drawn ones in turn, every file with bytes of its own behind the image."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = contents(kind, min(count, DRAWN))
    for number in range(first, first + count):
        (folder / f"{folder.name}_{number}.JPEG").write_bytes(drawn[number % len(drawn)] + str(number).encode())


def draw(root: Path, images: int, workers: int) -> None:
    """Write all images, the lists of the pool, and the network."""
    with ProcessPoolExecutor(workers) as pool:
        jobs = []
        for label, name in enumerate(NAMES):
            for part, first, count in (("train", 0, TRAINING), ("test", TRAINING, TESTED)):
                jobs.append(pool.submit(draw_class, root / "home" / part / name, label, first, count // len(NAMES)))
        for kind, start in enumerate(range(0, images, IN_A_FOLDER)):
            folder = root / "pool" / "val" / f"n{kind:08d}"
            jobs.append(pool.submit(draw_class, folder, kind, 0, min(IN_A_FOLDER, images - start)))
        for job in jobs:
            job.result()
    (root / "imglist").mkdir()
    for covariate in range(LEVELS):
        for semantic in range(LEVELS):
            text = "".join(lines(images, covariate, semantic))
            (root / "imglist" / f"cov_{covariate}_sem_{semantic}.txt").write_text(text)
    save_network(root)
    detectors = ", ".join(f'{{ detector = "{name}", settings = {{ {own} }} }}' for name, own in DETECTORS.items())
    (root / "spec.toml").write_text(SPEC.format(root=root, detectors=detectors))


def lines(images: int, covariate: int, semantic: int):
    """Yield the lines of a list: classes one semantic level after the other, the images of a class by their number."""
    for kind in range(semantic, -(-images // IN_A_FOLDER), LEVELS):
        for number in range(covariate, min(IN_A_FOLDER, images - kind * IN_A_FOLDER), LEVELS):
            yield f"./val/n{kind:08d}/n{kind:08d}_{number}.JPEG\n"


def save_network(root: Path) -> None:
    """Train a small network a little, and save it."""
    from openworld import classifiers, datasets

    images = datasets.load(str(root / "home"), part="train")
    recipe = classifiers.Recipe(epochs=1, side=SEEN)
    some = images.subset(np.arange(0, len(images), 10))
    classifiers.save(classifiers.train("convnet", some, recipe, seed=0)[1], root / "network")


def run(root: Path, name: str, workers: int, kill_at: int | None = None) -> Measured:
    """Run the spec, and kill it with all its processes once so many shards of the pool are there."""
    command = [sys.executable, "-m", "openworld", "run", str(root / "spec.toml"), "--out", str(root / name)]
    command += ["--cache", str(root / f"{name}-cache"), "--workers", str(workers), "--device", "cpu"]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with (root / f"{name}.log").open("ab") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        watch = Watch(process.pid, root / f"{name}-cache")
        while process.poll() is None:
            if kill_at is not None and watch.shards() >= kill_at:
                os.killpg(process.pid, signal.SIGKILL)
            time.sleep(0.2)
    scoring, merging = watch.stop()
    used, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
    processor = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    said = (root / f"{name}.log").read_text()
    return Measured(seconds, processor, scoring, merging, said, process.returncode)


class Watch:
    """Looks every second at the memory of a process and its children, what they share counted once, and the shards."""

    def __init__(self, pid: int, cache: Path):
        self._pid, self._cache, self._going = pid, cache, True
        self._seen: list[tuple[int, int]] = []  # shards, bytes
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def shards(self) -> int:
        """How many shards of scores are there."""
        return sum(1 for _ in self._cache.glob("*/scores-*.safetensors"))

    def stop(self) -> tuple[int, int]:
        """Return the largest memory before all shards were there, and afterwards."""
        self._going = False
        self._thread.join()
        last = max(shards for shards, _ in self._seen)
        parts = ([size for shards, size in self._seen if (shards == last) == whole] for whole in (False, True))
        scoring, merging = (max(part, default=0) for part in parts)
        return scoring, merging

    def _look(self) -> None:
        while self._going:
            self._seen.append((self.shards(), sum(map(proportional, family(self._pid)))))
            time.sleep(1.0)


def family(pid: int) -> list[int]:
    """A process and its descendants."""
    found, waiting = [], [pid]
    while waiting:
        found.append(waiting.pop())
        for file in Path(f"/proc/{found[-1]}/task").glob("*/children"):
            try:
                waiting += map(int, file.read_text().split())
            except OSError:
                continue
    return found


def proportional(pid: int) -> int:
    """Bytes of memory of a process, what it shares with others divided among them; 0 for one that is gone."""
    try:
        match = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M)
    except OSError:
        return 0
    return int(match[1]) * 1024 if match else 0


def digests(root: Path, name: str) -> dict[str, str]:
    """SHA-256 of all that a run leaves and that may not vary, and of the scores in its cache."""
    folders = {root / name / "units": "**/*", root / f"{name}-cache": "*/*.safetensors"}
    files = [(folder, file) for folder, pattern in folders.items() for file in folder.glob(pattern) if file.is_file()]
    files += [(root / name, root / name / "results.parquet")]
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for folder, file in files
        if file.name not in ("timing.json", "in-use")
    }


def scored(said: str) -> list[tuple[int, float, float]]:
    """(images, seconds, images a second) of every scoring that a run said it did."""
    found = re.findall(r"^scored ([\d,]+) images in ([\d,]+) s, ([\d,.]+)/s", said, re.M)
    return [tuple(float(part.replace(",", "")) for part in one) for one in found]


def report(given, whole: Measured, killed: Measured, resumed: Measured, kept: int, same: bool) -> None:
    """Print what was measured."""
    cores = os.cpu_count()
    (count, seconds, pace), (rest, rest_seconds, rest_pace) = scored(whole.said)[0], scored(resumed.said)[-1]
    rows = {
        "images of the pool, and tested ones": f"{given.images:,} + {TESTED:,}",
        "workers, cores": f"{given.workers}, {cores}",
        "whole run": f"{whole.seconds:,.0f} s, {whole.processor:,.0f} processor seconds",
        "scoring": f"{count:,.0f} images in {seconds:,.0f} s, {pace:,.0f}/s",
        "cores used over the whole run": f"{whole.processor / whole.seconds:.2f} of {cores}",
        "peak memory while scoring, all processes": f"{whole.while_scoring / 1e9:.2f} GB",
        "peak memory of the merge and the metrics": f"{whole.at_the_end / 1e9:.2f} GB",
        "killed after": f"{killed.seconds:,.0f} s, {kept:,} shards kept",
        "resumed": f"{rest:,.0f} images in {rest_seconds:,.0f} s, {rest_pace:,.0f}/s; {resumed.seconds:,.0f} s in all",
        "killed and resumed against whole": f"{killed.seconds + resumed.seconds:,.0f} s, {whole.seconds:,.0f} s",
        "the same bytes": "yes" if same else "NO",
    }
    for name, value in rows.items():
        print(f"{name:<44}{value}")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--images", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--kill", type=float, default=0.6)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="score-pool-", dir=given.folder))
    try:
        start = time.perf_counter()
        draw(root, given.images, given.workers)
        print(f"{given.images:,} images written in {time.perf_counter() - start:,.0f} s", flush=True)
        shards = -(-given.images // SHARD) + -(-TESTED // SHARD)
        killed = run(root, "killed", given.workers, kill_at=round(given.kill * shards))
        kept = len([*(root / "killed-cache").glob("*/scores-*.safetensors")])
        print(f"killed after {killed.seconds:,.0f} s with {kept} of {shards} shards; going on", flush=True)
        resumed = run(root, "killed", given.workers)
        print(f"resumed in {resumed.seconds:,.0f} s; now without interruption", flush=True)
        whole = run(root, "whole", given.workers)
        if whole.code:
            sys.exit(whole.said)
        same = digests(root, "whole") == digests(root, "killed")
        report(given, whole, killed, resumed, kept, same)
        sys.exit(0 if same and killed.code == -signal.SIGKILL else 1)
    finally:
        if not given.keep:
            shutil.rmtree(root)


if __name__ == "__main__":
    main()
