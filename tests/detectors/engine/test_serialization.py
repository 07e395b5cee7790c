"""Fitted detectors and gathered statistics in files: the same scores to the last bit; other files are refused."""

import json
from dataclasses import dataclass, replace

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from seen_images import whole
from settled import fitted, made

from openworld import OpenworldError
from openworld.detectors import (
    DETECTORS,
    KNN,
    MDS,
    Head,
    NNGuide,
    fit_together,
    gather,
    load_fitted,
    load_gathered,
    load_together,
    save_together,
    score_together,
)
from openworld.detectors.engine.serialization import FITTED
from openworld.runs.sealed import write_arrays
from openworld.shifts import Decomposition


def content(path):
    """The header and the tensors of a file."""
    with safe_open(path, "pt") as file:
        return file.metadata(), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def test_all_in_one_file_share_what_they_have_in_common(tmp_path):
    everyone = fit_together({f"my {name}": made(name) for name in DETECTORS}, [whole()])
    save_together(everyone, tmp_path / "all")
    found = load_together(tmp_path / "all")
    blind = replace(whole(2), head=None, texts=None)  # head and texts come from the file
    expected, scores = score_together(everyone, blind), score_together(found, blind)
    assert list(found) == list(everyone) and all(torch.equal(scores[label], expected[label]) for label in scores)
    for label, each in everyone.items():
        assert (found[label].detector, found[label].warnings) == (each.detector, each.warnings)
    assert found["my MDS"].head.weight is found["my KNN"].head.weight
    fitted("MDS").save(tmp_path / "one")
    assert (tmp_path / "all").stat().st_size < 15 * (tmp_path / "one").stat().st_size
    with pytest.raises(OpenworldError, match="holds 44 fitted detectors; read them with `load_together`"):
        load_fitted(tmp_path / "all")


def test_a_bias_that_a_masked_head_shares_is_written_once(tmp_path):
    fitted("DICE", replace(whole(), texts=None)).save(tmp_path / "one")
    assert sorted(content(tmp_path / "one")[1]) == ["0.head.weight", "0.state.bias", "0.state.weight"]


def test_gathered_shards_go_through_files(tmp_path):
    everyone = {name: made(name) for name in DETECTORS}
    for place, part in enumerate(whole().split(50)):
        gather(everyone, [part], start=50 * place).save(tmp_path / str(place))
    first, second = (load_gathered(tmp_path / str(place)) for place in (0, 1))
    scores, again = (
        score_together(one.fit(), whole(2))
        for one in (first.merge(second), gather(everyone, [whole().take(slice(50))]).merge(second))
    )
    assert all(torch.equal(scores[name], again[name]) for name in DETECTORS)
    with pytest.raises(OpenworldError, match="is a file of gathered statistics .*expected a file of fitted detectors"):
        load_fitted(tmp_path / "0")


@dataclass(frozen=True)
class Theirs(MDS):
    """Of another package: what it learns is made of classes that its parent's module knows."""

    name = "Theirs"


@dataclass(frozen=True)
class Careless(KNN):
    """Keeps what no file can hold."""

    name = "Careless"

    def learn(self, head, rows):
        return {"bank": rows.features}


def test_detectors_of_other_packages(tmp_path):
    expected = Theirs(shrinkage=0.5).fit(whole())
    expected.save(tmp_path / "one")
    with pytest.raises(OpenworldError, match="unknown detector 'Theirs'"):
        load_fitted(tmp_path / "one")
    found = load_fitted(tmp_path / "one", kinds=[Theirs])
    assert found.detector == Theirs(shrinkage=0.5) and torch.equal(found.score(whole(2)), expected.score(whole(2)))


def test_what_cannot_be_written(tmp_path):
    with pytest.raises(OpenworldError, match=r"0\.state holds a dict, which cannot be written to a file; keep what"):
        Careless(1).fit(whole()).save(tmp_path / "one")
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OpenworldError, match="cannot be written"):
        fitted("MSP").save(tmp_path / "file" / "one")


def test_files_of_another_kind_are_refused_in_a_sentence(tmp_path):
    Decomposition(torch.eye(4)[:, :2], torch.eye(4)[:, 2:]).save(tmp_path / "other")
    (tmp_path / "text").write_text("no tensors")
    fitted("NNGuide").save(tmp_path / "whole")
    (tmp_path / "cut").write_bytes((tmp_path / "whole").read_bytes()[:-8])
    for name in ("other", "text", "cut", "missing"):
        with pytest.raises(OpenworldError, match=rf"{name}\b.*; expected a file of .*`FittedDetector.save`"):
            load_fitted(tmp_path / name)


def test_a_device_that_is_not_there_is_refused_in_a_sentence(tmp_path):
    KNN(k=1).fit(torch.eye(2)).save(tmp_path / "knn")
    with pytest.raises(OpenworldError, match="cannot be read to device 'cuda:99'"):
        load_fitted(tmp_path / "knn", device="cuda:99")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("whitening", "whitened!"),  # a field that the class does not have
        ("Gaussian", "Cauchian"),  # a class that is not beside the detector
        ("shrinkage", "shrunkage"),  # a setting that there is not
        ("0.state.centre", "1.state.centre"),  # a tensor that is not in the file
    ],
)
def test_files_of_another_version_are_refused_in_a_sentence(before, after, tmp_path):
    fitted("MDS").save(tmp_path / "one")
    header, tensors = content(tmp_path / "one")
    changed = {key: text.replace(before, after) for key, text in header.items()}
    assert changed != header
    save_file(tensors, tmp_path / "one", metadata=changed)
    with pytest.raises(OpenworldError, match="is damaged: its content is not what its SHA-256 says"):
        load_fitted(tmp_path / "one")
    about = json.loads(changed["openworld"])["about"]
    write_arrays(tmp_path / "one", FITTED, about, {name: tensor.numpy() for name, tensor in tensors.items()})
    with pytest.raises(OpenworldError, match="of another openworld .*; read it with that, or make it anew|unknown"):
        load_fitted(tmp_path / "one")


def test_a_table_of_another_shape_than_was_written_is_refused(tmp_path):
    fitted("MDS").save(tmp_path / "one")
    header, tensors = content(tmp_path / "one")
    short = {name: tensor.numpy()[:1] for name, tensor in tensors.items()}
    write_arrays(tmp_path / "one", FITTED, json.loads(header["openworld"])["about"], short)
    with pytest.raises(OpenworldError, match="has shape .*, written was"):
        load_fitted(tmp_path / "one")


def test_a_bank_that_is_a_view_is_written_alone(tmp_path):
    rows = torch.rand(1000, 4)
    expected = replace(KNN(1).fit(rows[:3]), state=rows[:3])
    expected.save(tmp_path / "one")
    assert (tmp_path / "one").stat().st_size < 1000 and torch.equal(load_fitted(tmp_path / "one").state, rows[:3])
    head = Head(torch.rand(3, 8)[:, ::2])
    NNGuide(1, 1.0).fit(rows[:3], head=head).save(tmp_path / "one")
    assert torch.equal(load_fitted(tmp_path / "one").head.weight, head.weight)
