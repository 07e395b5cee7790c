"""A run for other tools: flat numbers for trackers, entries for the hub, a section for a model card, citations."""

import contextlib
import re
import sys
from dataclasses import replace
from types import ModuleType

import pytest
import yaml
from huggingface_hub import ModelCard, ModelCardData

import openworld as ow
from openworld.api.citing import bibliography, cite_methods
from openworld.api.exchange import model_index
from openworld.papers.bibliography import names_used

ROWS = {"side": ["base"] * 3 + ["new"] * 3, "score": [3.0, 2.0, 0.5, 1.0, 2.5, 0.1], "correct": [1, 1, 1, 1, 0, 1]}
NASTY = "a|b `x` <script>\n# head"


@pytest.fixture(scope="module")
def run():
    return ow.score(ROWS)


@pytest.fixture(scope="module")
def two():
    """Predictions of two models, one of which has markup for a name."""
    columns = {name: values * 2 for name, values in ROWS.items()}
    return ow.score(columns | {"model": ["GMoP"] * 6 + [NASTY] * 6})


def test_numbers_have_flat_names_and_are_fractions(run, tmp_path):
    numbers = ow.metrics_of(run)
    assert ow.metrics_of(ow.score(ROWS, tmp_path / "run")) == ow.metrics_of(tmp_path / "run") == numbers
    assert numbers["model/openworld_auc"] == run.results.overall().where(metric="openworld_auc").rows[0].value.value
    assert all(type(number) in (int, float) for number in numbers.values())
    assert 0 < numbers["model/auroc"] <= 1


class Tracker(ModuleType):
    """Stands for a tracker's module: keeps the numbers, and refuses what MLflow refuses."""

    def __init__(self, name):
        super().__init__(name)
        self.numbers = {}
        self.start_run = self.init = self.SummaryWriter = lambda *_, **__: contextlib.nullcontext(self)
        self.log_artifact = lambda path: path.encode()

    def log_metrics(self, numbers):
        for name, number in numbers.items():
            self.add_scalar(name, number)

    log = log_metrics

    def add_scalar(self, name, number):
        assert re.fullmatch(r"[\w\-./ ]+", name) and isinstance(number, int | float)
        self.numbers[name] = number


@pytest.mark.parametrize("module", ["mlflow", "wandb", "torch.utils.tensorboard"])
def test_a_recipe_of_the_docs_hands_every_number_to_the_tracker(repository, run, monkeypatch, tmp_path, module):
    monkeypatch.chdir(tmp_path)
    page = (repository / "docs" / "pipelines.md").read_text(encoding="utf-8")
    recipes = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (recipe,) = (code for code in recipes if module in code.split("import")[0] + code.split("\n")[0])
    tracker = Tracker(module)
    monkeypatch.setitem(sys.modules, module, tracker)
    exec(recipe, {"ow": ow, "run": run})  # the page is ours
    assert tracker.numbers == ow.metrics_of(run)


def test_names_that_become_the_same_are_numbered():
    columns = {name: values * 2 for name, values in ROWS.items()}
    names = list(ow.metrics_of(ow.score(columns | {"model": ["a|b"] * 6 + ["a?b"] * 6})))
    assert {"a b/auroc", "a b/auroc 2"} <= set(names)


def test_a_number_that_is_not_defined_is_left_out():
    run = ow.score({"side": ["base", "base", "new"], "score": [1.0, 2.0, 0.0], "correct": [0, 0, 0]})
    undefined = {row.metric.key for row in run.results.overall() if row.value.value is None}
    assert undefined and not any(name.split("/")[-1] in undefined for name in ow.metrics_of(run))


def test_the_hub_reads_the_entries_back(two):
    entries = ow.hub_entries(two)
    assert list(entries) == ["GMoP", NASTY]
    card = ModelCardData(model_name="GMoP", eval_results=entries["GMoP"])
    back = ModelCard(f"---\n{card.to_yaml()}\n---\n# GMoP").data.eval_results
    numbers = {entry.metric_type: entry.metric_value for entry in back}
    assert numbers["auroc"] == pytest.approx(ow.metrics_of(two)["GMoP/auroc"])
    assert "images" not in numbers, "counts are no scores"


@pytest.mark.parametrize(
    ("spec", "type", "name"),
    [
        ({}, "own predictions", "own predictions"),
        ({"dataset": "hf:ethz/food101"}, "ethz/food101", "ethz/food101"),
        ({"train": {"dataset": "dtd"}, "test": {"dataset": "data/pets"}}, "several", "dtd, pets"),
    ],
)
def test_an_entry_names_its_data_set_or_says_that_there_are_several(run, spec, type, name):
    entries = ow.hub_entries(replace(run, run_folder=replace(run.run_folder, resolved=spec)))["model"]
    assert {(entry.dataset_type, entry.dataset_name) for entry in entries} == {(type, name)}


def test_the_index_holds_one_model_or_all_as_yaml(two):
    assert [model["name"] for model in yaml.safe_load(model_index(two))["model-index"]] == ["GMoP", NASTY]
    assert "script" not in model_index(two, "GMoP") and "script" in model_index(two)
    with pytest.raises(ow.OpenworldError, match="GMoP"):
        model_index(two, "gmop")


def test_the_card_is_markdown_in_which_names_are_no_markup(two):
    card = ow.model_card(two)
    text, fences = card.split("```", 1)
    assert text.startswith("## Evaluation: recognition\n") and "| GMoP |" in text
    assert "\n# head" not in card and "<script" not in text.replace("\\<script", "") and "a\\|b" in text
    assert "@inproceedings{hua2025openworldauc," in fences and card.count("```") % 2 == 0
    assert "script" not in ow.model_card(two, "GMoP").split("Made with")[0]


def test_a_run_cites_what_it_used_once():
    spec = {"learners": [{"learner": "CoOp"}, {"learner": "CoOp", "label": "more"}], "dataset": "dtd"}
    text = bibliography([("evaluations", "recognition"), *names_used(spec)], ["openworld"])
    keys = re.findall(r"@\w+{(\w+),", text)
    assert keys == ["hua2025openworldauc", "zhou2022coop", "cimpoi2014dtd", "openworld"]


def test_methods_are_cited_by_name_or_kind():
    assert "zhou2022coop" in cite_methods(["CoOp"]) and "hendrycks2017msp" not in cite_methods(["CoOp"])
    assert cite_methods(["learners"]).count("@") > 10
    assert set(re.findall(r"@\w+{(\w+),", cite_methods([]))) >= {
        "zhou2022coop",
        "hendrycks2017msp",
        "guo2017calibration",
    }
    with pytest.raises(ow.OpenworldError, match="did you mean 'CoOp'"):
        cite_methods(["Coop"])


def test_a_plug_in_brings_its_own_entry(monkeypatch):
    from openworld.detectors import DETECTORS, PLUGINS

    mine = type("Mine", (), {"name": "Mine", "bibtex": "@misc{mine2026,\n  title = {Mine},\n}"})
    monkeypatch.setattr(type(PLUGINS), "offered", lambda self: {"Mine": []} if self is PLUGINS else {})
    monkeypatch.setattr(type(PLUGINS), "find", lambda self, name: {**DETECTORS, "Mine": mine}[name])
    assert "@misc{mine2026," in cite_methods(["Mine"]) and "@misc{mine2026," in cite_methods(["detectors"])
