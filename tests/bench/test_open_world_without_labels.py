"""The bench of open-world quality without labels, on streams that are made in a moment."""

import re
import sys

import numpy as np
import pytest

from openworld.testing import small_open_world


@pytest.fixture
def bench(repository, monkeypatch):
    import open_world_without_labels

    return open_world_without_labels


def keep(folder, style, outputs):
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {name: getattr(outputs, name) for name in ("logits", "base_logits", "new_logits")}
    np.savez(folder / f"{style}.npz", score=outputs.scores, label=outputs.labels, n_base=outputs.n_base, **arrays)


def test_every_cell_is_printed_and_the_alarm_is_counted(bench, tmp_path, monkeypatch, capsys):
    for number, task in enumerate(("concepts", "concepts-b")):
        for place, learner in enumerate(("zero-shot", "CoOp", "GMoP")):
            folder, seed = tmp_path / task / f"{learner}-1", 10 * number + place
            keep(folder, "validation", small_open_world(seed, 200, 0))
            keep(folder, "twemoji", small_open_world(100 + seed, 300))
            keep(folder, "emojione-monotone", small_open_world(200 + seed, 300))
    words = ["--streams", str(tmp_path), "--task", "concepts", "concepts-b", "--parts", "home", "alarm"]
    monkeypatch.setattr(sys, "argv", ["bench", *words])
    bench.main()
    printed = capsys.readouterr().out
    assert len(re.findall(r"^concepts(-b)? +(zero-shot|CoOp|GMoP) ", printed, re.M)) == 6 * len(bench.ESTIMATORS)
    assert "chosen on concepts, judged on concepts-b; the bar: theta 4, every part 6" in printed
    assert re.search(r"judged on concepts-b, home \(false\): of 15 streams by shares \d+, by confidence \d+", printed)


def test_half_of_the_new_classes_is_the_harder_or_the_easier(bench):
    outputs = small_open_world(3, 600)
    harder, easier = (bench.of_half(outputs, harder) for harder in (True, False))

    def accuracy(part):
        new = part.labels >= 4
        return np.mean(part.reference[new, 4:].argmax(axis=1) + 4 == part.labels[new])

    assert accuracy(harder) < accuracy(easier)
    assert set(harder.labels[harder.labels >= 4]).isdisjoint(easier.labels[easier.labels >= 4])
