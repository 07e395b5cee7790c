"""The benches of labels run at a small size, on streams that are made up here."""

import sys

import label_coverage
import label_designs
import label_exactness
import numpy as np

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


def test_designs_print_a_row_for_each_kind_of_expectations(tmp_path, capsys):
    rng, folder = np.random.default_rng(1), tmp_path / "made" / "model-0"
    folder.mkdir(parents=True)
    for name, sure in (("source", 3), ("same--unseen", 3), ("noise--1", 2)):
        labels = rng.integers(0, CLASSES, 200)
        logits = rng.normal(0, 1, (200, CLASSES)) + sure * np.eye(CLASSES)[labels]
        np.savez(folder / f"{name}.npz", logits=logits, labels=labels)
    label_designs.main(["--pool", str(tmp_path), "--draws", "3", "--sizes", "100"])
    rows = [line.split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[1] for row in rows] == list(label_designs.KINDS) and all(row[0] == "| made" for row in rows)
    heads = label_designs.HEADS
    for row in rows:
        ratio = float(row[heads.index("default / plain")].split()[0])
        assert 0.7 < ratio <= 1.02 and float(row[heads.index("realised")]) < float(row[heads.index("at worst")])
