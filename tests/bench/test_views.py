"""bench/views.py runs at a small size, and both sides read the same."""

import sys

import views


def test_it_prints_both_times_and_their_ratio(capsys, monkeypatch):
    small = ["--images", "6", "--batch", "3", "--views", "2", "--patches", "4", "--width", "5", "--repeats", "1"]
    monkeypatch.setattr(sys, "argv", ["views.py", *small])
    views.main()
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["one", "all", "ratio"]
