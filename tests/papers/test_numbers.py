"""The published numbers: read whole, recomputed where they can be, and every known contradiction shown to be one."""

from collections import Counter, defaultdict
from statistics import fmean, median, variance

import pytest

from openworld import OpenworldError
from openworld.metrics import final_ranks, harmonic_mean
from openworld.papers import AVERAGE, MISPRINTS, TABLES, VARIANTS, published_numbers, published_tables
from openworld.papers.numbers import HEADER, parse, printed_deviations

COUNTS = {"openworldauc": 1228, "openpl": 3192, "frap": 503, "is-ood": 238}
HEAD = ",".join(HEADER)
GOOD = "2,open-world recognition,ImageNet,,CLIP,OpenworldAUC,47.31,"
HALF = 0.005 + 1e-9  # of the last printed decimal of a percentage
CURVES = [number for number, table in TABLES["openpl"].items() if "AUC" in table.metrics]
RANKED = [number for number, table in TABLES["openpl"].items() if "delta_PN" in table.metrics]


def value(table, method, metric="OpenworldAUC", dataset=None, setting=None, paper="openworldauc"):
    """The one printed number that fits."""
    found = [
        one.value
        for one in published_numbers(paper, table)
        if (one.method, one.metric) == (method, metric)
        and dataset in (None, one.dataset)
        and setting in (None, one.setting)
    ]
    assert len(found) == 1, found
    return found[0]


def methods(paper, table):
    return list(dict.fromkeys(one.method for one in published_numbers(paper, table)))


def by_method(table):
    """{metric: {method: number}} of a table of OpenPL."""
    found = defaultdict(dict)
    for one in published_numbers("openpl", table):
        found[one.metric][one.method] = one.value
    return found


def curve_of(table):
    """The table of curves that holds the areas behind a table of ranks."""
    wanted = TABLES["openpl"][table]
    played = (wanted.tasks, wanted.datasets)
    number = next(n for n in CURVES if (TABLES["openpl"][n].tasks, TABLES["openpl"][n].datasets) == played)
    return by_method(number)


def row_means(table):
    """{(method, metric): (mean of the rows, the printed average)}, where an average is printed."""
    rows, printed = defaultdict(list), {}
    for one in published_numbers("openworldauc", table):
        if one.dataset == AVERAGE:
            printed[one.method, one.metric] = one.value
        else:
            rows[one.method, one.metric].append(one.value)
    return {key: (fmean(rows[key]), average) for key, average in printed.items()}


# Reading


@pytest.mark.parametrize("paper", COUNTS)
def test_every_number_is_read_once(paper):
    numbers = published_numbers(paper)
    assert len(numbers) == len({one.key for one in numbers}) == COUNTS[paper]
    printed = tuple(number for number, table in published_tables(paper).items() if table.printed)
    assert tuple(dict.fromkeys(one.table for one in numbers)) == printed
    assert sum(len(published_numbers(paper, table)) for table in TABLES[paper]) == COUNTS[paper]


@pytest.mark.parametrize("paper", TABLES)
def test_tables_say_what_is_in_them(paper):
    for number, table in TABLES[paper].items():
        numbers = published_numbers(paper, number)
        if not table.printed:
            assert not numbers
            continue
        printed = dict.fromkeys(one.dataset for one in numbers if one.dataset not in ("", AVERAGE))
        assert tuple(dict.fromkeys(one.metric for one in numbers)) == table.metrics, number
        assert not printed or tuple(printed) == table.datasets, number
        assert {one.task for one in numbers} and table.heading.endswith(table.title), number
        cells = {(getattr(one, table.rows), *(getattr(one, name) for name in table.columns)) for one in numbers}
        assert len(cells) == len(numbers), "rows and columns must tell all numbers apart"


def test_unknown_papers_and_tables_name_the_known_ones():
    with pytest.raises(OpenworldError, match="did you mean 'openpl'"):
        published_numbers("openpi")
    with pytest.raises(OpenworldError, match="unknown table of openworldauc '5'.*Known: 2, 3, 4, 7, 8-9"):
        published_numbers("openworldauc", "5")


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ["paper," + HEAD],
        [HEAD, GOOD.replace("47.31", "high")],
        [HEAD, GOOD.replace("47.31", "nan")],
        [HEAD, GOOD + ",1"],
        [HEAD, GOOD[:-1].rsplit(",", 2)[0]],
        [HEAD, GOOD.replace("2,", "5,", 1)],
        [HEAD, GOOD.replace("OpenworldAUC", "OWAUC")],
        [HEAD, GOOD, GOOD],
    ],
)
def test_a_damaged_file_is_refused(lines):
    with pytest.raises(OpenworldError, match="reinstall the package"):
        list(parse(lines, "openworldauc"))
    assert [one.value for one in parse([HEAD, GOOD], "openworldauc")] == [47.31]


# OpenworldAUC, recomputed


@pytest.mark.parametrize("table", ["2", "3", "8-9", "13", "17"])
def test_averages_are_the_means_of_their_rows(table):
    for (method, metric), (mean, printed) in row_means(table).items():
        if (method, metric) != ("CoOp", "OpenworldAUC") or table == "3":
            assert printed == pytest.approx(mean, abs=HALF), (method, metric)


def test_tables_repeat_one_another():
    detailed = {(one.dataset, one.method, one.metric): one.value for one in published_numbers("openworldauc", "8-9")}
    for one in published_numbers("openworldauc", "2"):
        assert detailed[one.dataset, one.method, one.metric] == one.value
    for dataset in VARIANTS:
        for method in methods("openworldauc", "4"):
            assert value("4", method, dataset=dataset) == value("10", method, dataset=dataset)
    for method in methods("openworldauc", "4"):
        assert value("4", method, dataset="ImageNet") == value("2", method, dataset="ImageNet")
        thousands = value("15", method, "n_params_thousand")
        assert thousands == pytest.approx(value("7", method, "n_params") / 1000, abs=0.05)
    for one in published_numbers("openworldauc", "17"):
        if one.method == "GMoP":
            assert one.value == value("2", "GMoP", dataset=one.dataset)


def accuracies(table):
    """{(dataset, setting, method): {metric: fraction}} of a table that prints both accuracies."""
    found = defaultdict(dict)
    for one in published_numbers("openworldauc", table):
        if "over the ten ratios" not in one.setting:
            found[one.dataset, one.setting, one.method][one.metric] = one.value / 100
    return found


@pytest.mark.parametrize(("table", "rows"), [("11", 10), ("12", 10), ("14", 16)])
def test_harmonic_means_and_bounds(table, rows):
    found = accuracies(table)
    assert len(found) == rows
    for (dataset, _, method), row in found.items():
        both = row["BaseAcc"] * row["NewAcc"]
        assert both + row["AUROC"] - 1 - 1e-4 <= row["OpenworldAUC"] <= min(row["AUROC"], both) + 1e-4
        if (dataset, method) != ("ImageNetV2", "GMoP"):
            assert row["HM"] == pytest.approx(harmonic_mean(row["BaseAcc"], row["NewAcc"]), abs=1.25e-4)


@pytest.mark.parametrize("table", ["8-9", "10"])
def test_bounds_that_follow_from_the_harmonic_mean(table):
    rows = defaultdict(dict)
    for one in published_numbers("openworldauc", table):
        if one.dataset != AVERAGE:
            rows[one.dataset, one.method][one.metric] = one.value / 100
    assert len(rows) == {"8-9": 121, "10": 44}[table]
    for row in rows.values():  # HM^2 <= BaseAcc x NewAcc <= HM / (2 - HM)
        least, most = row["HM"] ** 2, row["HM"] / (2 - row["HM"])
        assert least + row["AUROC"] - 1 - 1e-4 <= row["OpenworldAUC"] <= min(row["AUROC"], most) + 1e-4


@pytest.mark.parametrize("table", ["11", "12"])
def test_means_and_sample_variances_over_the_ratios(table):
    swept, told = defaultdict(list), {}
    for one in published_numbers("openworldauc", table):
        if "over the ten ratios" in one.setting:
            told[one.setting.split()[0], one.metric] = one.value
        else:
            swept[one.metric].append(one.value)
    for metric, values in swept.items():
        assert len(values) == 10
        assert told["mean", metric] == pytest.approx(fmean(values), abs=HALF)
        assert told["variance", metric] == pytest.approx(variance(values), abs=HALF + 0.002 * variance(values))


# OpenPL, recomputed


def test_worst_accuracy_and_variation_fit_the_start():
    for table in CURVES:
        found = by_method(table)
        for method, start in found["Acc(0)"].items():
            worst, area = found["WA"][method], found["AUC"][method]
            assert worst <= min(start, area), (table, method)
            assert found["EVM"][method] >= start - worst - 0.001 - 1e-9, (table, method)


def test_both_scenarios_of_classes_start_alike():
    compared = 0
    for emerging, varying in zip(range(10, 21), range(21, 32), strict=True):
        assert by_method(str(emerging))["Acc(0)"] == by_method(str(varying))["Acc(0)"]
        compared += len(by_method(str(emerging))["Acc(0)"])
    assert compared == 121


@pytest.mark.parametrize(("short", "whole"), [("2", "12"), ("3", "25"), ("4", "33")])
def test_tables_of_the_text_repeat_those_of_the_appendix(short, whole):
    assert by_method(short) == by_method(whole)


@pytest.mark.parametrize("table", RANKED)
def test_ranks_are_ranks(table):
    ranks = by_method(table)["Friedman_rank"]
    final = by_method(table)["Final_rank"]
    assert sum(ranks.values()) == pytest.approx(66, abs=0.01)
    points = {"6": 66, "7": 66, "8": 24, "9": 60}.get(table, 6)  # (data set, level) pairs behind each rank
    for rank in ranks.values():
        halves = 2 * points * rank
        assert abs(halves - round(halves)) <= 2 * points * 0.00051
    ours = dict(zip(ranks, final_ranks(list(ranks.values())), strict=True))
    for method, rank in ours.items():
        tied = sum(other == ranks[method] for other in ranks.values())
        assert abs(final[method] - rank) <= (tied - 1) / 2


@pytest.mark.parametrize("table", [number for number in RANKED if int(number) >= 36])
def test_deltas_are_differences_of_areas(table):
    told, areas = by_method(table), curve_of(table)
    for method in told["delta_AUC"]:
        gain = areas["AUC"][method] - areas["AUC"]["CLIP"]
        assert told["delta_AUC"][method] == pytest.approx(gain, abs=0.001 + 1e-9)
        balance = areas["PosArea"][method] - areas["NegArea"][method]
        assert told["delta_PN"][method] == pytest.approx(balance, abs=0.001 + 1e-9)


@pytest.mark.parametrize(("table", "first"), [("6", 36), ("7", 47)])
@pytest.mark.parametrize("metric", ["delta_AUC", "delta_PN", "Friedman_rank"])
def test_average_robustness_is_the_mean_over_the_data_sets(table, first, metric):
    each = [by_method(str(number))[metric] for number in range(first, first + 11)]
    for method, printed in by_method(table)[metric].items():
        assert printed == pytest.approx(fmean(one[method] for one in each), abs=0.0006)


def test_a_number_that_is_repeated_has_the_deviation_of_its_details():
    known = printed_deviations("openworldauc")
    lacking = [one for table in ("2", "4") for one in published_numbers("openworldauc", table)
               if one.dataset != AVERAGE and one.same_number not in known]  # fmt: skip
    assert lacking == []


# Every known contradiction is one


def coop_average():
    assert [value(table, "CoOp", dataset=AVERAGE) for table in ("2", "8-9")] == [47.59, 47.59]
    assert 47.59 in [one.value for one in published_numbers("openworldauc", "15") if one.method == "CoOp"]
    assert round(row_means("2")["CoOp", "OpenworldAUC"][0], 2) == 49.11
    assert 47.59 < value("2", "CLIP", dataset=AVERAGE) == 47.83 < 49.11


def domain_adaption():
    told = {one.method: one.value for one in published_numbers("openworldauc", "15") if "adaption" in one.task}
    assert told == {method: value("4", method, dataset="ImageNet") for method in methods("openworldauc", "4")}
    assert len(told) == 11
    means = {method: fmean(value("4", method, dataset=name) for name in VARIANTS) for method in told}
    assert (round(means["CLIP"], 2), round(means["GMoP"], 2)) == (35.73, 39.70)
    assert all(means[method] < told[method] for method in told)


def dept_in_detail():
    coarse = {
        (one.dataset, one.method, one.metric): one.value
        for table in ("8-9", "10")
        for one in published_numbers("openworldauc", table)
    }
    differing = {
        (one.dataset, one.method, one.metric): (one.value, coarse[one.dataset, one.method, one.metric])
        for one in published_numbers("openworldauc", "14")
        if one.value != coarse.get((one.dataset, one.method, one.metric), one.value)
    }
    assert differing == {
        ("Flowers102", "DePT-Kg", "HM"): (85.09, 85.10),
        ("ImageNet", "DePT-Kg", "HM"): (73.14, 73.13),
        ("ImageNetV2", "DePT-Kg", "AUROC"): (90.21, 94.21),
        ("ImageNetV2", "DePT-Kg", "OpenworldAUC"): (41.45, 42.45),
        ("ImageNet-Sketch", "DePT-Kg", "AUROC"): (86.84, 87.84),
        ("ImageNet-Sketch", "DePT-Kg", "OpenworldAUC"): (23.37, 23.97),
    }


def gmop_harmonic_mean():
    row = accuracies("14")["ImageNetV2", "target", "GMoP"]
    assert (row["BaseAcc"], row["NewAcc"]) == pytest.approx((0.7104, 0.6360))
    assert row["HM"] == pytest.approx(0.6702) and value("10", "GMoP", "HM", "ImageNetV2") == 67.02
    assert round(100 * harmonic_mean(row["BaseAcc"], row["NewAcc"]), 2) == 67.11


def tcp_harmonic_mean():
    assert value("8-9", "TCP", "HM", "Flowers102") == 84.34
    assert value("12", "TCP", "HM", setting="new/base=1") == 85.15
    for metric in ("AUROC", "OpenworldAUC"):
        detailed, swept = value("8-9", "TCP", metric, "Flowers102"), value("12", "TCP", metric, setting="new/base=1")
        assert detailed == pytest.approx(swept, abs=0.01 + 1e-9)


def best_of_table_3():
    best = {}
    for one in published_numbers("openworldauc", "3"):
        best[one.dataset, one.setting] = max(best.get((one.dataset, one.setting), (0, "")), (one.value, one.method))
    others = {(*key, name) for key, (_, name) in best.items() if name != "GMoP"}
    expected = {("DTD", "base:new=5:1 (Fwd)", "Gallop"), ("Food101", "base:new=1:5 (Bwd)", "DeCoOp")}
    assert others == expected


def gates():
    beaten = {
        (one.dataset, one.method)
        for one in published_numbers("openworldauc", "17")
        if one.value > value("17", "GMoP", dataset=one.dataset)
    }
    assert beaten == {("DTD", "GMoP w/o Gate"), ("DTD", "GMoP 0-1 Gate"), ("UCF101", "GMoP 0-1 Gate")}


def identity_of_areas():
    compared, gaps = 0, []
    for table in RANKED[4:]:
        told = by_method(table)
        for method, balance in told["delta_PN"].items():
            compared += 1
            gap = balance - told["delta_AUC"][method]
            if abs(gap) > 0.001 + 1e-9:
                gaps.append((TABLES["openpl"][table].tasks[0], method, gap))
    assert (compared, len(gaps)) == (220, 28)
    assert Counter(scenario for scenario, *_ in gaps) == {"varying-ratio": 21, "emerging-classes": 7}
    named = Counter(method for _, method, _ in gaps)
    assert (named["CoOp"], named["CoCoOp"]) == (10, 6)
    assert (round(min(gap for *_, gap in gaps), 3), round(max(gap for *_, gap in gaps), 3)) == (0.002, 0.015)


def identity_on_eurosat():
    found = by_method("5")
    gaps = {}
    for method in found["PosArea"]:
        gain = round(found["AUC"][method] - found["AUC"]["CLIP"], 3)
        balance = round(found["PosArea"][method] - found["NegArea"][method], 3)
        if abs(gain - balance) > 0.001 + 1e-9:
            gaps[method] = (gain, balance)
    assert gaps == {"VPT": (-0.048, -0.023), "MaPLe": (0, 0.011), "ProDA": (0.015, 0.022), "TCP": (0.001, 0.006)}


def silent_ties():
    pairs = 0
    for table in RANKED:
        told = by_method(table)
        ordered = sorted(told["Final_rank"], key=told["Final_rank"].get)
        ranks = [told["Friedman_rank"][method] for method in ordered]
        assert ranks == sorted(ranks)
        pairs += sum(one == other for one, other in zip(ranks, ranks[1:], strict=False))
        assert len(set(told["Final_rank"].values())) == len(ranks)
    assert pairs == 18


def thinned_against_whole():
    whole = {(one.dataset, one.method): one.value for one in published_numbers("openworldauc", "2")}
    rows = [one for one in published_numbers("openworldauc", "3") if one.dataset != AVERAGE]
    gaps = [(abs(one.value - whole[one.dataset, one.method]), one.method) for one in rows]
    assert len(gaps) == 110 and round(median(gap for gap, _ in gaps), 2) == 0.28
    assert Counter(method for gap, method in gaps if gap > 2) == {"CoOp": 4, "CLIP": 3, "MaPLe": 2}
    chosen = [("OxfordPets", "CLIP"), ("Flowers102", "CoOp")]
    thin = {key: [one.value for one in rows if (one.dataset, one.method) == key] for key in chosen}
    assert thin == {chosen[0]: [82.82, 80.30], chosen[1]: [52.64, 51.03]}
    assert [whole[key] for key in chosen] == [76.17, 59.65]


def gallops_detection():
    table = {(one.dataset, one.method, one.metric): one.value for one in published_numbers("openworldauc", "14")}
    sets = ("Flowers102", "ImageNet", "ImageNetV2", "ImageNet-Sketch")
    areas = {method: [table[name, method, "AUROC"] for name in sets] for method in methods("openworldauc", "14")}
    assert (areas["Gallop"], areas["DeCoOp"]) == ([94.50, 95.93, 94.20, 87.93], [96.84, 96.22, 95.02, 91.02])
    assert all(ours < min(two) for ours, *two in zip(areas["Gallop"], areas["DeCoOp"], areas["GMoP"], strict=True))
    assert all(table[name, "Gallop", "BaseAcc"] >= max(table[name, each, "BaseAcc"] for each in areas) for name in sets)


def gains_over_zero_shot():
    for table, low, high in (("6", 0.053, 0.102), ("7", 0.013, 0.074)):
        gains = sorted(by_method(table)["delta_AUC"].values())
        assert (len(gains), gains[1], gains[-1]) == (10, low, high) and gains[0] < 0
    emerging = [n for n in CURVES if TABLES["openpl"][n].tasks == ("emerging-classes",) and n != "2"]
    areas = [by_method(table)["AUC"] for table in emerging]
    assert len(areas) == 11 and all(each["PromptSRC"] > each["CLIP"] for each in areas)


def ten_methods():
    assert all(len(set(methods("openpl", table)) - {"CLIP"}) == 10 for table in ("6", "7", "8", "9"))


def direction_of_robustness():
    """The two deltas are one number by definition, so that one inequality cannot be right for one and wrong for it."""
    told = by_method("6")
    assert all(told["delta_PN"][name] == pytest.approx(gain, abs=0.0021) for name, gain in told["delta_AUC"].items())


SHOWN = {
    "openworldauc": {
        "Table 3 against Table 2": thinned_against_whole,
        "detection of Gallop": gallops_detection,
        "CoOp's average": coop_average,
        "domain adaption": domain_adaption,
        "DePT-Kg in detail": dept_in_detail,
        "HM of GMoP": gmop_harmonic_mean,
        "HM of TCP": tcp_harmonic_mean,
        "best of Table 3": best_of_table_3,
        "gates": gates,
    },
    "openpl": {
        "no meaningful improvement": gains_over_zero_shot,
        "ten methods": ten_methods,
        "decay-gain-ratio robustness": direction_of_robustness,
        "PA - NA": identity_of_areas,
        "PA - NA on EuroSAT": identity_on_eurosat,
        "ties broken silently": silent_ties,
    },
}


@pytest.mark.parametrize("paper", SHOWN)
def test_every_known_contradiction_is_one(demonstrate, paper):
    demonstrate(paper, SHOWN[paper])


def test_the_docs_list_every_contradiction(repository):
    text = (repository / "docs" / "evidence" / "printed-contradictions.md").read_text(encoding="utf-8")
    page = " ".join(text.split())
    rows = [line for line in page.split(" | ") if line]
    assert [one.what for one in MISPRINTS if one.what not in rows] == []


def test_the_numbers_are_in_the_package(repository):
    folder = repository / "src" / "openworld" / "papers"
    assert {path.name for path in folder.glob("*.csv")} == {f"{paper}.csv" for paper in TABLES}
    ignored = (repository / ".gitignore").read_text(encoding="utf-8").split()
    assert "*.csv" not in ignored, "the wheel leaves out what git ignores"
