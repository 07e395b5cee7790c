"""The benches of labels run at a small size, on streams that are made up here."""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import label_coverage  # noqa: E402
import label_exactness  # noqa: E402

CLASSES, EACH = 8, 20


def write(path, rng, labels):
    """Logits over all names that favour the right one, and a score that favours base images."""
    logits = rng.normal(0, 1, (labels.size, CLASSES)) + 3 * np.eye(CLASSES)[labels]
    half = CLASSES // 2
    score = np.where(labels < half, 1.0, -1.0) + rng.normal(0, 1, labels.size)
    arrays = {"base_logits": logits[:, :half], "new_logits": logits[:, half:], "n_base": np.int64(half)}
    np.savez(path, score=score, logits=logits, label=labels, **arrays)


def test_coverage_lists_cells_gains_and_refusals(tmp_path, capsys, monkeypatch):
    rng, folder = np.random.default_rng(0), tmp_path / "concepts" / "zero-shot-1"
    folder.mkdir(parents=True)
    for style in label_coverage.STYLES:
        write(folder / f"{style}.npz", rng, np.repeat(np.arange(CLASSES), EACH))
    write(folder / "validation.npz", rng, np.repeat(np.arange(CLASSES // 2), EACH))
    small = ["--draws", "3", "--sizes", "60", "--shares", "0.5", "--styles", "twemoji", "--folder", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["label_coverage.py", *small, "--pilot"])
    label_coverage.main()
    out = capsys.readouterr().out
    assert "4 cells" in out and out.count("twemoji") >= 5 and "100.0 to 100.0 % refused" in out


def test_exactness_prints_ratios_and_seconds(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["x", "--sizes", "60", "--images", "2000", "--labels", "100"])
    label_exactness.main()
    lines = capsys.readouterr().out.splitlines()
    assert float(lines[1].split()[-1]) < 1e-12
    assert [line.split()[0] for line in lines[-3:]] == ["random", "stratified", "poisson"]
