"""IS-OOD's Table 3 from records of decomposed zero-shot accuracy; the run's own table; and what is refused."""

import io
import json
from types import SimpleNamespace

import pytest
from rich.console import Console

from openworld import OpenworldError
from openworld.evaluations.decomposed_zero_shot.page import build_decomposed
from openworld.evaluations.decomposed_zero_shot.run import decomposed_run, load_decomposed
from openworld.evaluations.decomposed_zero_shot.tables import decomposed_verdict, export_decomposed, terminal_decomposed
from openworld.report.text_tables import as_tex
from openworld.reproduction.comparison.compare import beside
from openworld.reproduction.comparison.tables import beside_markdown
from openworld.reproduction.comparison.wording import title
from openworld.reproduction.measure import StandsFor, measured
from openworld.runs import RunStore, Unit, UnitResult


def one_set(row, whole, semantic, covariate, look="plain"):
    def told(value):
        return {"value": value, "interval": [value - 0.1, value + 0.1], "n": 50}

    parts = {"whole": whole, "semantic": semantic, "covariate": covariate}
    parts = {part: {"top1": told(value), "top5": told(value + 0.1)} for part, value in parts.items()}
    return {"row": row, "dataset": "any", "domain": None, "look": look, "parts": parts}


def told(method, seed, semantic):
    sets = [one_set("clean", 0.7, semantic, 0.1)]
    sets += [one_set("foggy", 0.3 + step, semantic - 0.2, 0.05, f"fog {1 + 10 * step:.0f}") for step in (0.0, 0.2)]
    return {
        "protocol": "decomposed-zero-shot", "method": method, "seed": seed, "backbone": "ViT", "classes": 100,
        "sets": sets,
    }  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    store, spec = RunStore(tmp_path / "run"), {"protocol": "decomposed-zero-shot"}
    resolved = spec | {"methods": [{"label": "PCA"}, {"label": "LAID"}]}
    store.create(spec, resolved, {"command": []})
    records = [told("LAID", 1, 0.6), told("LAID", 0, 0.5), told("PCA", 0, 0.4)]
    planned = [Unit("math:sqrt", {"x": place}, name=str(place)) for place in range(len(records))]
    store.plan(planned)
    for unit, metrics in zip(planned, records, strict=True):
        store.write(unit, UnitResult(metrics=metrics))
    return tmp_path / "run"


def find(numbers, *asked):
    (found,) = [one for one in numbers if (one.dataset, one.setting, one.method, one.metric) == asked]
    return found


def test_numbers_of_the_table(folder):
    numbers = measured("is-ood", "3", [StandsFor(folder)])
    assert len(numbers) == 5 * 2 * 2
    whole = find(numbers, "clean", "full features", "CLIP", "Acc@1")
    assert whole.value == pytest.approx(70) and whole.interval == pytest.approx((60, 80)) and whole.over == "images"
    foggy = find(numbers, "foggy", "full features", "CLIP", "Acc@5")
    assert foggy.value == pytest.approx(50) and not foggy.intervals, "two sets of the same pictures"
    laid = find(numbers, "clean", "semantic features", "LAID", "Acc@1")
    assert laid.per_seed == pytest.approx((50, 60)) and laid.over == "seeds"


def test_only_what_was_asked_for_is_read(folder):
    numbers = measured("is-ood", "3", [StandsFor(folder, {}, {"CLIP": "CLIP"})])
    assert {one.method for one in numbers} == {"CLIP"}


def test_the_table_stands_beside_the_printed_one(folder):
    named = StandsFor(folder, {"clean": "ImageNet-1K", "foggy": "ImageNet-C"})
    shown = beside("is-ood", "3", measured("is-ood", "3", [named]))
    assert shown.same_data and "67.49" in beside_markdown(shown)


def test_on_other_data_every_half_has_a_printed_column_of_its_own(folder):
    shown = beside("is-ood", "3", measured("is-ood", "3", [StandsFor(folder)]))
    heads = [title(shown, column) for column in shown.columns if column.printed_only]
    assert len(heads) == 6 and heads[:2] == ["full features Acc@1, printed", "semantic features Acc@1, printed"]


def test_the_runs_own_table(folder):
    run = load_decomposed(folder)
    assert run.methods == ("PCA", "LAID"), "in the order of the spec"
    assert "| LAID | semantic half | 55.0 (50.0 to 60.0) |" in export_decomposed(run, "markdown")
    assert export_decomposed(run, "csv").splitlines()[1] == "whole feature,,clean,top-1,0.7,0.7,0.7,1"
    assert len(json.loads(export_decomposed(run, "json"))["rows"]) == 20 and len(terminal_decomposed(run).heads) == 6
    assert "PCA on clean: the semantic half names 40.0 %" in decomposed_verdict(run)[0]
    assert "What do the halves of a feature know?" in build_decomposed(folder).read_text(encoding="utf-8")
    with pytest.raises(OpenworldError, match="did you mean 'csv'"):
        export_decomposed(run, "cvs")


def test_names_that_look_like_markup_are_text():
    records = [
        SimpleNamespace(metrics=told("LAID [texts]", 0, 0.6) | {"sets": [one_set("crane [/bird]", 0.7, 0.6, 0.1)]})
    ]
    run = decomposed_run(records)
    console = Console(width=200, file=io.StringIO(), color_system=None)
    console.print(terminal_decomposed(run))
    assert all(name in console.file.getvalue() for name in ("LAID [texts]", "crane [/bird]"))
    assert all(as_tex(name) in export_decomposed(run, "latex") for name in ("LAID [texts]", "crane [/bird]"))
