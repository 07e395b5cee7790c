"""Our numbers beside the printed ones: which belong together, what is subtracted and tested, and how it is written."""

import csv
import io
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console
from scipy import stats

from openworld import OpenworldError
from openworld.papers import AVERAGE, METRICS, TABLES, published_numbers
from openworld.papers.results import PaperResult, average_of
from openworld.report.render import terminal_table
from openworld.reproduction.comparison import PaperColumn, compare_with_paper
from openworld.reproduction.page import (
    compared_results,
    comparison_report,
    table_of,
    write_comparison,
    write_comparison_page,
)
from openworld.results import Interval, Results, Value, over_seeds
from openworld.testing import check_table

SEEDS = {"CLIP": (0.5, 0.5, 0.5), "CoOp": (0.49, 0.5, 0.51), "GMoP": (0.6, 0.601, 0.599), "mine": (0.01, 0.02, 0.03)}


def number(method, dataset, seeds=None, metric="OpenworldAUC", **fields):
    seeds = seeds or SEEDS[method]
    facts = {"seeds": tuple(range(1, len(seeds) + 1)), "per_seed": seeds, "backbone": "embedded"}
    value = over_seeds(seeds, METRICS[metric])
    return PaperResult(dataset, "", method, metric, **{"value": value, "datasets": (dataset,)} | facts | fields)


def table_2(datasets=("DTD", "EuroSAT"), methods=("CLIP", "CoOp", "GMoP")):
    rows = [number(method, dataset) for dataset in datasets for method in methods]
    averages = [average_of([one for one in rows if one.method == method]) for method in methods]
    return beside(*rows, *(averages if len(datasets) > 1 else []))


def cell(shown, row, dataset="", metric="OpenworldAUC", **column):
    return shown.pairs[row, PaperColumn(metric, dataset=dataset, **column)]


def printed(method, dataset, table="2", paper="openworldauc", metric="OpenworldAUC"):
    (found,) = (
        one.in_data
        for one in published_numbers(paper, table)
        if (one.method, one.dataset, one.metric) == (method, dataset, metric)
    )
    return found


def beside(*ours, table="2", **options):
    return compare_with_paper("openworldauc", table, ours, **options)


def drawn(shown):
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(terminal_table(table_of(shown)))
    return console.export_text()


# Same data


def test_every_cell_holds_ours_printed_and_difference():
    shown = table_2()
    assert shown.same_data and [column.dataset for column in shown.columns] == ["DTD", "EuroSAT", AVERAGE]
    found = cell(shown, "CoOp", "DTD")
    assert (found.ours.number, found.printed) == (0.5, printed("CoOp", "DTD"))
    assert found.difference == pytest.approx(0.5 - printed("CoOp", "DTD"))
    shown = table_2(methods=("CLIP", "mine"))
    assert len(shown.rows) == 12 and shown.rows[-1] == "mine"
    assert cell(shown, "TCP", "DTD").ours is None and cell(shown, "TCP", "DTD").printed == printed("TCP", "DTD")
    assert cell(shown, "mine", "DTD").printed is None and cell(shown, "mine", "DTD").difference is None


def test_a_table_whose_printed_numbers_are_missing_holds_ours_alone():
    ours = [number(method, "ImageNet-Sketch", metric="AUC") for method in ("CLIP", "CoOp")]
    alone = compare_with_paper("openpl", "34", ours)
    assert alone.rows == ("CLIP", "CoOp") and alone.same_data and not alone.agreements
    assert all(pair.printed is None and pair.ours is not None for pair in alone.pairs.values())
    assert "Ours stand alone: the printed numbers of this table are missing" in alone.sentences[0]
    check_table(table_of(alone))


def test_an_average_is_compared_with_the_mean_of_the_same_rows_and_has_the_deviation_of_their_mean():
    shown, whole = table_2(), table_2(TABLES["openworldauc"]["2"].datasets)
    for method in ("GMoP", "TCP"):
        both = (printed(method, "DTD") + printed(method, "EuroSAT")) / 2
        assert cell(shown, method, AVERAGE).printed == pytest.approx(both)
    assert "Average of 2" in drawn(shown)
    parts = [cell(shown, "GMoP", name).deviation for name in ("DTD", "EuroSAT")]
    assert cell(shown, "GMoP", AVERAGE).deviation == pytest.approx(np.hypot(*parts) / 2)
    found = cell(whole, "CoOp", AVERAGE)
    assert found.printed == pytest.approx(0.4759) and found.difference == pytest.approx(0.5 - 0.4759)
    assert any("47.59" in note for note in whole.notes)
    parts = [cell(whole, "GMoP", name).deviation for name in TABLES["openworldauc"]["2"].datasets]
    assert cell(whole, "GMoP", AVERAGE).deviation == pytest.approx(np.linalg.norm(parts) / 11)
    rows = [number("CoOp", "DTD", (0.1, 0.2)), number("CoOp", "EuroSAT", (0.4, 0.3))]
    assert average_of(rows).value.deviation == pytest.approx(np.std([0.25, 0.25], ddof=1))
    assert average_of(rows[:1]).value.deviation == pytest.approx(np.std([0.1, 0.2], ddof=1))


def test_the_average_of_table_3_is_over_both_settings():
    fwd, bwd, mean = "base:new=5:1 (Fwd)", "base:new=1:5 (Bwd)", "mean of Fwd and Bwd columns"
    rows = [replace(number("CoOp", name), setting=setting) for name in ("DTD", "SUN397") for setting in (fwd, bwd)]
    found = cell(beside(*rows, average_of(rows, mean), table="3"), "CoOp", AVERAGE, setting=mean)
    kept = [each.in_data for each in published_numbers("openworldauc", "3")
            if each.method == "CoOp" and each.dataset in ("DTD", "SUN397")]  # fmt: skip
    assert len(kept) == 4 and found.printed == pytest.approx(sum(kept) / 4)


def test_a_difference_is_tested_over_both_sides_seeds_and_corrected_over_the_table():
    one = printed("CoOp", "DTD")
    seeds = (one - 0.009, one + 0.001, one + 0.011)
    (details,) = [
        row
        for row in published_numbers("openworldauc", "8-9")
        if (row.dataset, row.method, row.metric) == ("DTD", "CoOp", "OpenworldAUC")
    ]
    pair = cell(beside(number("CoOp", "DTD", seeds)), "CoOp", "DTD")
    peer = stats.ttest_ind_from_stats(one + 0.001, 0.01, 3, one, details.std / 100, 3, equal_var=False)
    assert pair.deviation == pytest.approx(details.std / 100) and pair.test.p == pytest.approx(peer.pvalue)
    assert pair.verdict == "undecided at n = 3 seeds"
    shown = table_2(datasets=("DTD",))
    assert cell(shown, "CLIP", "DTD").test.p is None, "no spread on either side"
    assert cell(shown, "GMoP", "DTD").verdict == "higher than printed"
    assert shown.verdicts == (0, 2, 0, 0, 1)
    assert "0 are reproduced within 1.0 points" in shown.sentences[0] and "2 are higher" in shown.sentences[0]


def test_a_number_is_reproduced_when_both_uncertainties_leave_it_within_the_margin():
    one = printed("GMoP", "DTD")
    seeds = (one - 0.001, one, one + 0.0015)
    pair = cell(beside(number("GMoP", "DTD", seeds), margin=0.03), "GMoP", "DTD")
    assert pair.verdict == "reproduced within 3.0" and pair.test.equivalence_p < 0.05
    ours, theirs = np.var(seeds, ddof=1), pair.deviation**2
    t = (abs(pair.difference) - 0.03) / np.sqrt(ours + theirs) * 3**0.5
    freedom = (ours + theirs) ** 2 / (ours**2 / 2 + theirs**2 / 2)
    assert pair.test.equivalence_p == pytest.approx(stats.t.cdf(t, freedom))
    narrow = beside(number("GMoP", "DTD", seeds), margin=0.001)
    assert cell(narrow, "GMoP", "DTD").verdict == "undecided at n = 3 seeds"


@pytest.mark.parametrize(("options", "words"), [({"margin": 0}, "above 0"), ({"show": "std"}, "show")])
def test_wrong_options_are_refused(options, words):
    with pytest.raises(OpenworldError, match=words):
        beside(**options)


def test_deviations_that_are_not_over_seeds_are_shown_and_not_tested_with():
    row = published_numbers("frap", "1")[0]
    seeds = tuple(row.in_data + shift for shift in (-0.01, 0.0, 0.02))
    ours = number(row.method, row.dataset, seeds, row.metric, task=row.task)
    (pair,) = [pair for pair in compare_with_paper("frap", "1", [ours]).pairs.values() if pair.ours]
    assert pair.deviation == row.std and pair.test.p == pytest.approx(stats.ttest_1samp(seeds, row.in_data).pvalue)


def test_ours_may_stand_with_their_deviation_as_papers_print_it():
    text = write_comparison(beside(number("CoOp", "DTD"), number("GMoP", "DTD"), show="deviation"), "tex")
    assert "60.0" in text and "0.1" in text and "deviation over seeds" in text
    assert "[" not in text.split("tabular")[1].split("\\midrule")[-1].split("\\bottomrule")[0]


def test_ranks_are_subtracted_among_the_same_methods_only():
    methods = list(dict.fromkeys(one.method for one in published_numbers("openpl", "38")))
    ours = [
        PaperResult("DTD", "", method, metric, Value(value), datasets=("DTD",))
        for method in methods
        for metric, value in {"Friedman_rank": 2.0, "Final_rank": 1.0}.items()
    ]
    whole, part = (
        cell(compare_with_paper("openpl", "38", some), "CLIP", metric="Friedman_rank") for some in (ours, ours[:6])
    )
    rank = printed("CLIP", "DTD", "38", "openpl", "Friedman_rank")
    assert whole.difference == pytest.approx(2 - rank) and part.printed == rank and part.difference is None


def test_seconds_are_never_subtracted_and_parameters_always():
    ours = number("GMoP", "", (0.1, 0.2, 0.3), "inference_time_s", datasets=("DTD",))
    seconds = beside(ours, table="16")
    assert cell(seconds, "GMoP", metric="inference_time_s").difference is None
    assert "Nothing is subtracted" in seconds.sentences[0] and "image tower" in write_comparison(seconds, "md")
    tuned = replace(number("GMoP", ""), metric="n_params", value=Value(26624.0), datasets=("DTD",))
    assert cell(beside(tuned, table="7"), "GMoP", metric="n_params").difference == 0


def test_columns_may_be_tasks_and_rows_settings_and_averages_that_are_not_printed_are_left_out():
    told = {"task": "open-world recognition", "datasets": TABLES["openworldauc"]["2"].datasets}
    tasks = replace(number("CoOp", AVERAGE), **told), replace(number("GMoP", AVERAGE), **told | {"datasets": ("DTD",)})
    shown = beside(*tasks, table="15")
    assert cell(shown, "CoOp", task="open-world recognition").difference == pytest.approx(0.5 - 0.4759)
    assert cell(shown, "GMoP", task="open-world recognition").difference is None, "one data set of eleven"
    rows = [replace(number("CoOp", name), setting="target") for name in ("ImageNet-A", "ImageNet-R")]
    shown = beside(*rows, average_of(rows), table="4")
    assert [column.dataset for column in shown.columns] == ["ImageNet-R", "ImageNet-A"]
    swept = replace(number("TCP", "DTD", (0.8, 0.81)), setting="new/base=1", metric="BaseAcc")
    shown = beside(swept, table="11")
    assert shown.rows[0] == "new/base=10" and len(shown.rows) == 12 and not shown.agreements
    assert shown.pairs["new/base=1", PaperColumn("BaseAcc")].difference == pytest.approx(0.805 - 0.8185)


# Other data


def test_on_other_data_printed_averages_stand_beside_and_nothing_is_subtracted():
    shown = table_2(("here", "there"))
    assert not shown.same_data and all(pair.difference is None for pair in shown.pairs.values())
    assert cell(shown, "CoOp", AVERAGE).printed == pytest.approx(0.4759)
    assert "not to be subtracted" in shown.sentences[0] and "here; there" in shown.sentences[0]
    assert shown.rows == ("CLIP", "CoOp", "GMoP")
    shown = table_2(("here",), ("CLIP", "CoOp", "GMoP", "mine"))
    assert shown.columns[-1] == PaperColumn("OpenworldAUC", printed_only=True)
    assert cell(shown, "GMoP", printed_only=True).printed == pytest.approx(0.6094)
    assert ("mine", shown.columns[-1]) not in shown.pairs
    assert "OpenworldAUC, printed" in write_comparison(shown, "md")


def test_orders_are_compared_by_kendalls_tau():
    (order,) = table_2(("here",), ("CLIP", "CoOp", "GMoP")).agreements
    # Ours: CLIP = CoOp < GMoP; printed: CoOp < CLIP < GMoP. Two of three pairs agree, one is tied: 2 / sqrt(2 x 3).
    assert order.tau == pytest.approx(2 / 6**0.5) and order.n == 3
    assert "3 methods are not shown to be related: OpenworldAUC τ = 0.82" in order.sentence
    few = table_2(("here",), ("CLIP", "mine")).agreements[0]
    assert few.tau is None and "fewer than 3 methods are on both sides" in few.sentence
    (equal,) = beside(*(number(method, "here", (0.1, 0.2)) for method in ("CLIP", "CoOp", "GMoP"))).agreements
    assert equal.tau is None and "all methods of one side are equal" in equal.sentence
    methods = [one.method for one in published_numbers("openworldauc", "2") if one.dataset == "DTD"]
    (same,) = beside(*(number(method, "DTD", (printed(method, "DTD"),) * 3) for method in methods)).agreements
    assert same.tau == pytest.approx(1) and same.related and "agree" in same.sentence, "of the same data set alone"


# As text


def test_every_form_of_every_kind_of_table_says_the_same():
    curves = [number(method, "DTD", (0.5, 0.6), "AUC") for method in ("CLIP", "CoOp", "VPT")]
    errors = [number(method, "MNIST", (0.1, 0.2), "MAE") for method in ("AC", "COT")]
    others = compare_with_paper("openpl", "12", curves), compare_with_paper("frap", "1", errors)
    for found in (table_2(), table_2(("here",)), table_2(("here", "there")), *others):
        check_table(table_of(found))


def test_terminal_markdown_and_latex_hold_ours_the_printed_number_and_the_difference():
    text = drawn(table_2(TABLES["openworldauc"]["2"].datasets))
    assert max(map(len, text.splitlines())) <= 100 and text.count("GMoP") >= 3, "blocks of columns repeat the methods"
    for fact in ("3 seeds", "seeds (n = 3)", "60.0 [59.8 60.2] (40.4, +19.6)"):
        assert fact in " ".join(text.split())
    markdown, latex = write_comparison(table_2(), "md"), write_comparison(table_2(), "tex")
    assert "| GMoP | **60.00** \\[59.75 60.25\\] (40.37, +19.63) |" in markdown
    assert r"GMoP & \textbf{60.00} [59.75 60.25] (40.37, +19.63)" in latex


def test_the_csv_has_a_line_for_every_cell_and_results_are_read_again_from_json():
    shown = table_2()
    lines = {
        (line["entity"], line["dataset"]): line for line in csv.DictReader(io.StringIO(write_comparison(shown, "csv")))
    }
    assert len(lines) == len(shown.pairs)
    one, absent = lines["GMoP", "DTD"], lines["TCP", "DTD"]
    assert (one["table"], one["metric"], one["n_seeds"], one["seeds"]) == ("2", "openworld_auc", "3", "1 2 3")
    assert float(one["difference"]) == pytest.approx(0.6 - printed("GMoP", "DTD"))
    assert one["verdict"] == "higher than printed" and float(one["p"]) < 0.05
    assert (absent["value"], absent["reason"]) == ("", "not measured")
    assert float(absent["printed"]) == pytest.approx(printed("TCP", "DTD"))
    results = compared_results([shown])
    again, place = Results.from_json(results.to_json()), dict(results.rows[2].where)
    assert again.value("GMoP", "openworld_auc", **place).value == 0.6
    assert results.to_arrow().column("printed").null_count == 0


def test_names_are_text_and_never_markup():
    nasty = "<script>_&|"
    shown = beside(number(nasty, "here", (0.1, 0.2)), number("GMoP", "a_b"))
    assert "<script>_" not in comparison_report([shown]).html()
    markdown, latex = write_comparison(shown, "md"), write_comparison(shown, "tex")
    assert r"\<script\>\_&\|" in markdown and r"\textless{}script\textgreater{}\_\&\textbar{}" in latex
    assert r"a\_b" in latex and nasty in drawn(shown)


def test_a_page_of_one_table_of_several_and_of_none(tmp_path):
    path = write_comparison_page(tmp_path, [table_2()])
    page = path.read_text(encoding="utf-8")
    assert path == tmp_path / "report.html" and "printed 40.4, +19.6" in page
    assert page == comparison_report([table_2()]).html(), "the same bytes for the same tables"
    curves = [number(method, "DTD", (0.5, 0.6), "AUC") for method in ("CLIP", "CoOp", "VPT")]
    page = comparison_report([table_2(("here",)), table_2(), compare_with_paper("openpl", "12", curves)]).html()
    assert page.index('id="overview"') < page.index("Table 12: emerging new classes on DTD")
    assert "In 2 of 3 tables" in page and "seeds (n = 2)" in page
    with pytest.raises(OpenworldError, match="there is no table to show"):
        comparison_report([])


def test_all_intervals_are_told_in_words():
    both = (Interval(0.4, 0.6, "drawings", 100), Interval(0.3, 0.7, "seeds", 3))
    page = comparison_report([beside(number("GMoP", "DTD", metric="HM", value=Value(0.6, both)), table="8-9")]).html()
    assert "[40.0 60.0]" in page and "[30.0 70.0] over seeds (n = 3)" in page
    assert "printed deviation" in page
