"""bench/detector_search.py compares two searches that choose the same settings with the same AUROCs."""

import sys

import torch


def test_both_searches_give_the_same(repository, monkeypatch):
    monkeypatch.delitem(sys.modules, "detector_search", raising=False)
    import detector_search as bench

    torch.manual_seed(0)
    model = bench.watch(
        bench.build("convnet", bench.CLASSES, 28).eval(), torch.rand(2, 3, 28, 28), pixel_std=(0.25,) * 3
    )
    images = [torch.rand(20, 3, 28, 28) ** power for power in (1, 1, 2)]
    given = {"ASH": bench.ASH(), "KNN": bench.KNN()}
    grids = {"ASH": {"percent": (20, 80)}, "KNN": {"k": (1, 9, 15)}}
    once = bench.searched_once(given, grids, model, *images)
    plain = bench.searched_one_by_one(given, grids, model, *images)
    for label, areas in plain.items():
        assert len(areas) == len(grids[label]["percent" if label == "ASH" else "k"])
        assert [area.value for _, area in once[label].trials] == areas
