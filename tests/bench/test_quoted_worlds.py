"""The pool's worlds of texts, tables, photographs and sounds are whole in small, and no text or patch serves twice."""

from dataclasses import replace

import classifiers
import numpy as np
import photographs
import pool
import pytest
import sounds
import tables
import texts

COLUMNS = {"logits", "labels", "reference", "reference_weak", "reference_kin", "classnames"}
SMALL = {"train": 60, "reference": 60, "source": 30, "same--unseen": 30}


@pytest.fixture(scope="module")
def library():
    """Three packages whose files hold made-up paragraphs."""
    draws, words = (
        np.random.default_rng(0),
        np.array([f"{c}{v}{e}" for c in "bdkmnprst" for v in "aeiou" for e in "nr"]),
    )
    return {
        package: [
            [
                (kind, " ".join([str(number), package, *draws.choice(words[place::3], 20)]))
                for kind in ("docstring", "docstring", "comment", "error", "names")
                for _ in range(3)
            ]
            for number in range(16)
        ]
        for place, package in enumerate(("one", "two", "three"))
    }


@pytest.fixture(scope="module")
def grounds():
    """Three photographs of made-up textures."""
    draws = np.random.default_rng(0)
    return {f"ground {n}": (draws.random((200, 260, 3)) * 255 / n).astype(np.uint8) for n in (1, 2, 4)}


def world_of(name, library, grounds):
    """One seed of a world in small."""
    if name == "docstrings":
        return texts.build(3, library, SMALL, 20)
    if name == "photographs":
        return photographs.build(3, grounds, 1, 20)
    if name == "vowels":
        return sounds.build(name, 3, SMALL | {"train": 200, "reference": 200}, 10)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(
            tables.TABLES, name, replace(tables.TABLES[name], training=min(tables.TABLES[name].training, 150))
        )
        return tables.build(name, 3, 60, 30)


@pytest.mark.parametrize("name", ["docstrings", "photographs", "vowels", "wine"])
def test_a_world_in_small(name, tmp_path, capsys, library, grounds):
    worlds = {name: lambda seed: world_of(name, library, grounds)}
    pool.main("A world.", worlds, ["--out", str(tmp_path), "--seeds", "3"])
    lines = capsys.readouterr().out.splitlines()[2:]
    folders = sorted((tmp_path / name).iterdir())
    assert len(lines) == len(folders) == 3
    for folder in folders:
        found = pool.sets(folder)
        families = {pool.family(title) for title in found} - {"source", "same"}
        assert {"source", "same--unseen"} <= found.keys() and len(families) >= 5 and len(found) >= 14
        hidden = {"embedding"} if folder.name.startswith(("network", "cnn")) else set()
        assert all(arrays.keys() == COLUMNS | hidden for arrays in found.values())
        assert not np.array_equal(found["source"]["logits"], found["source"]["reference_kin"])
        assert any(line.startswith(f"| {name} | {folder.name} |") for line in lines)


def test_no_text_and_no_patch_serves_twice(library, grounds):
    parts = texts.image_sets(0, library, SMALL, 20)
    said = [text for name in SMALL for text in parts[name][0]]
    assert len(said) == len(set(said)) > 100
    patches = photographs.image_sets(0, grounds, 20)
    pixels = [patch.tobytes() for name in photographs.SHARES for patch in patches[name][0]]
    assert len(pixels) == len(set(pixels)) == 3 * 7 * 9


def test_paragraphs_of_a_file(tmp_path):
    file, words = tmp_path / "a.py", "many plain words that say what this small thing does and why it does"
    file.write_text(
        f'"""Package {words}.\n\nShort.\n"""\n# package: {words}\n\n\ndef f():\n    raise ValueError("{words}")\n'
    )
    found = dict(texts.paragraphs(file, "package"))
    assert found == {"docstring": f" {words}.", "comment": f": {words}", "error": words}


@pytest.mark.parametrize("name", texts.SHIFTS)
def test_changed_texts_are_other_texts(name):
    said = ["Return the Mean of all 12 values, as a float; none is left out, so that zeros count"] * 3
    changed = texts.SHIFTS[name](said, np.random.default_rng(0))
    assert len(changed) == 3 and all(one and one != whole for one, whole in zip(changed, said, strict=True))


def test_logits_of_two_classes_and_of_votes():
    rows, labels = np.array([[0.0], [0.1], [1.0], [1.1]]), np.array([0, 0, 1, 1])
    for name in ("boosting", "forest", "bayes"):
        judged = classifiers.judged(tables.RECIPES[name], rows.repeat(10, axis=0), labels.repeat(10), 0)
        found = judged.logits(rows)
        assert found.shape == (4, 2) and np.isfinite(found).all()
        assert name == "boosting" or found.argmax(axis=1).tolist() == labels.tolist()
    assert classifiers.smoothed_logs(np.array([[1.0, 0.0]]), 10)[0].tolist() == pytest.approx(
        [np.log(10.1 / 10.2), np.log(0.1 / 10.2)]
    )


def test_a_drift_and_swapped_columns_by_hand():
    rows = np.arange(8.0).reshape(4, 2)
    drifted = tables.drifted(rows, np.random.default_rng(0), deviations=1.0) - rows
    assert drifted[0].tolist() == [0, 0] and np.abs(drifted[-1]) == pytest.approx(2 * rows.std(axis=0))
    assert tables.swapped(rows, np.random.default_rng(0), pairs=1).tolist() == rows[:, ::-1].tolist()


def test_an_echo_and_a_mosaic_by_hand():
    click = np.zeros((1, sounds.LENGTH))
    click[0, 0] = 1
    heard = sounds.echoed(click, None, milliseconds=10)[0]
    assert {int(place): heard[place] for place in np.flatnonzero(heard)} == {0: 1, 80: 0.6, 160: 0.35}
    patch = np.zeros((1, 3, photographs.SIDE, photographs.SIDE))
    patch[0, 0, 0, 0] = 1
    cells = photographs.mosaic(patch, None, side=2)[0]
    assert cells[0, :2, :2].tolist() == [[0.25, 0.25], [0.25, 0.25]] and cells.sum() == 1


def test_source_and_embedding_may_differ_in_columns(tmp_path):
    arrays = {"logits": np.eye(2), "labels": [0, 1], "classnames": ["a", "b"]}
    pool.keep(tmp_path, "source", **arrays, embedding=np.ones((2, 5)))
    with pytest.raises(ValueError, match="embedding"):
        pool.keep(tmp_path, "source", **arrays, embedding=np.ones((3, 5)))
