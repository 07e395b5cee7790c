"""`openworld estimate --open-world`: the ladder of premises, the alarm, what is refused, and every way to ask."""

import json

import numpy as np
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import openworld as ow
from openworld import OpenworldError
from openworld.applications.open_world_stream import write_stream
from openworld.cli.app import app

BASE, NEW = tuple(f"base {n}" for n in range(8)), tuple(f"new {n}" for n in range(8))
NAMES = BASE + NEW


def stream(count, share, seed, *, sure=4.0, away=0.0, labelled=False, **more):
    """Columns of a learner that is about as sure as it is right; `away` takes its base images for new ones."""
    draw = np.random.default_rng(seed)
    new = draw.random(count) < share
    label = np.where(new, 8, 0) + draw.integers(0, 8, count)
    logits = draw.normal(size=(count, 16))
    logits[np.arange(count), label] += sure
    logits[:, :8] -= away
    columns = {"logits": logits, "zero_shot": logits + away * (np.arange(16) < 8), **more}
    if labelled:
        columns |= {"side": np.where(new, "new", "base"), "label": np.array(NAMES)[label]}
    return columns


ABOUT = {"classnames": list(NAMES), "n_base": 8}
SOURCE = stream(400, 0.0, 0, labelled=True) | ABOUT


def estimated(target, source=SOURCE, **options):
    return ow.estimate(source, target | ABOUT, open_world=True, quiet=True, **options)


@pytest.fixture(scope="module")
def home():
    return estimated(stream(1000, 0.5, 1, labelled=True))


def test_every_part_is_near_the_truth_where_the_premises_hold(home):
    found = home.found
    true = found.target.truth
    for name in ("own", "positive-unlabelled"):
        (own,) = (row for row in found.premises if row.estimator == name)
        off = {part: abs(own.numbers[part] - true[part]) for part in true}
        assert max(off.values()) < 0.08, (name, off)
    assert found.quoted == "positive-unlabelled" and not found.shares.alarm
    assert found.unknown == () and found.spread is not None


def test_nothing_follows_from_nothing(home):
    first = home.found.premises[0]
    assert first.estimator == "nothing" and not any(value is not None for value in first.numbers.values())
    assert "nothing" in repr(home)


def test_numbers_carry_no_interval_and_sentences_their_premise(home):
    assert not any(row.value.intervals for row in home.results)
    verdict = " ".join(home.page.verdict)
    quote = home.found.quote
    assert quote.premise in home.page.verdict[0]
    assert "no interval" in verdict and "alarm" in verdict
    assert "off by" in verdict


def test_labels_settle_it_where_there_are_none():
    answer = estimated(stream(300, 0.5, 2))
    assert not answer.found.target.truth
    assert "openworld label plan" in " ".join(answer.page.verdict)


def test_against_the_share_of_new_every_estimator_has_a_line(home):
    lines = {line.estimator: line for line in home.found.against_new_share}
    assert lines.keys() == {own.estimator for own in home.found.answers}
    rows = home.results.where(entity="own", metric="openworld_auc", new_share_assumed=0.5)
    at = lines["own"].shares.index(0.5)
    assert [row.value.value for row in rows] == [lines["own"].openworld_auc[at]]


def test_made_up_streams_have_errors_of_every_part(home):
    (row, *_) = (row for row in home.found.made_up if row.estimator == "own")
    assert row.streams == 10 and row.mean_absolute["auroc"] < 0.2
    assert home.terminal_tables[1].name == "made-up"


def test_shares_that_part_raise_the_alarm_and_nothing_is_told():
    answer = estimated(stream(800, 0.3, 3, away=4.0))
    assert answer.found.shares.alarm and answer.found.unknown
    assert "cannot be told" in answer.page.verdict[0] and "alarm" in " ".join(answer.page.verdict)


def test_a_share_that_is_known_takes_the_place_of_the_estimated_one():
    answer = estimated(stream(800, 0.3, 4), new_share=0.3)
    shares = [own.numbers["new_share"] for own in answer.found.answers]
    assert shares == pytest.approx([0.3] * 4, abs=1e-6)
    assert "30.0 %" in answer.page.verdict[0]


def test_rare_new_images_are_refused():
    found = estimated(stream(800, 0.03, 5)).found
    assert found.unknown and "new" in found.why


def test_new_images_of_the_source_are_not_looked_at():
    mixed = stream(800, 0.5, 0, labelled=True) | ABOUT
    keep = mixed["side"] == "base"
    alone = {name: mixed[name][keep] for name in ("logits", "zero_shot", "side", "label")} | ABOUT
    target = stream(300, 0.5, 6)
    first, second = estimated(target, mixed).found, estimated(target, alone).found
    assert first.premises == second.premises and "not used" in first.warnings[0]


def test_scores_and_names_alone_serve_the_mixture():
    def names_alone(columns):
        logits, found = columns["logits"], {name: columns[name] for name in columns.keys() & {"side", "label"}}
        named = {
            "base_name": np.array(BASE)[logits[:, :8].argmax(1)],
            "new_name": np.array(NEW)[logits[:, 8:].argmax(1)],
        }
        return found | named | {"score": logits[:, :8].max(1) - logits[:, 8:].max(1)}

    source, target = names_alone(stream(400, 0.0, 0, labelled=True)), names_alone(stream(800, 0.5, 7))
    answer = ow.estimate(source, target, open_world=True, quiet=True)
    numbers = {own.estimator: own.numbers["auroc"] for own in answer.found.premises}
    assert numbers["mixture"] > 0.8 and numbers["own"] is None and answer.found.unknown


def test_a_long_stream_is_sampled(monkeypatch):
    from openworld.applications.estimate.open_world import measurement

    monkeypatch.setattr(measurement, "SAMPLE", 200)
    found = estimated(stream(500, 0.5, 8)).found
    assert found.target.images == 500 and any("uniform sample" in warning for warning in found.warnings)


def test_the_command_writes_page_plots_numbers_and_rows(tmp_path):
    paths = {}
    for side, columns in (("source", stream(300, 0.0, 0, labelled=True)), ("target", stream(300, 0.5, 1))):
        paths[side] = write_stream(tmp_path / f"{side}.parquet", columns, NAMES, 8)
    arguments = ["estimate", "--open-world", "--out", tmp_path / "out"]
    arguments += [word for side, path in paths.items() for word in (f"--{side}", path)]
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exit_code == 0, done.output
    assert {"report.html", "estimate.json", "results.parquet", "against-new-share.svg", "parts.svg"} <= {
        path.name for path in (tmp_path / "out").iterdir()
    }
    said = json.loads((tmp_path / "out" / "estimate.json").read_text())
    rows = pyarrow.parquet.read_table(tmp_path / "out" / "results.parquet").to_pylist()
    (auc,) = (
        row["value"]
        for row in rows
        if (row["entity"], row["metric"], row["new_share_assumed"]) == (said["quoted"], "openworld_auc", None)
    )
    (own,) = (own for own in said["premises"] if own["estimator"] == said["quoted"])
    assert auc == own["numbers"]["openworld_auc"]
    assert "SHA-256" in (tmp_path / "out" / "report.html").read_text()


def test_the_exit_code_says_that_nothing_can_be_told(tmp_path):
    source = write_stream(tmp_path / "source.npz", stream(300, 0.0, 0, labelled=True), NAMES, 8)
    target = write_stream(tmp_path / "target.npz", stream(500, 0.3, 3, away=4.0), NAMES, 8)
    done = CliRunner().invoke(
        app, ["estimate", "--open-world", "--source", str(source), "--target", str(target), "--json"]
    )
    assert done.exit_code == 4 and json.loads(done.stdout)["untold"] == ["target.npz"]


REFUSED = {
    "no labels": (stream(400, 0.0, 0), {}, "has no labels"),
    "few labels": (stream(20, 0.0, 0, labelled=True), {}, "20 labelled base image.*20 more"),
    "an odd share": (SOURCE, {"new_share": 1.5}, "above 0 and below 1"),
    "an unknown estimator": (SOURCE, {"estimator": ["owm"]}, "unknown open-world estimator 'owm'"),
    "chunks": (SOURCE, {"chunks": 3}, "--chunks does not go with --open-world"),
    "by class": (SOURCE, {"by_class": True}, "--by-class does not go"),
    "unknown base names": (SOURCE, {"base_names": ["cat"]}, "unknown base name"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_done_is_refused(case):
    source, options, message = REFUSED[case]
    with pytest.raises(OpenworldError, match=message):
        estimated(stream(100, 0.5, 1), source | ABOUT, **options)


def test_streams_of_other_names_are_refused():
    with pytest.raises(OpenworldError, match="'lynx' is in one of the two alone"):
        ow.estimate(SOURCE, stream(100, 0.5, 1) | {"classnames": [*NAMES[:-1], "lynx"], "n_base": 8}, open_world=True)


@pytest.mark.parametrize("option", [{"new_share": 0.3}, {"base_names": ["cat"]}])
def test_options_of_open_world_alone_are_refused(option):
    with pytest.raises(OpenworldError, match="came without --open-world"):
        ow.estimate(SOURCE, SOURCE, **option)
