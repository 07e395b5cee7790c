"""Where the printed numbers contradict one another, or what the text says of them; found by recomputing them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Misprint:
    """One contradiction.

    Args:
        name: a short name.
        paper: "openworldauc", "openpl", "frap" or "is-ood".
        tables: numbers of the tables that it concerns.
        what: the contradiction, with the numbers.
    """

    name: str
    paper: str
    tables: tuple[str, ...]
    what: str


_BY_DATASET = tuple(str(number) for number in range(36, 58))

MISPRINTS: tuple[Misprint, ...] = (
    Misprint(
        "CoOp's average",
        "openworldauc",
        ("2", "8-9", "15"),
        "CoOp's average OpenworldAUC is printed as 47.59, but its eleven rows average 49.11. As printed CoOp is below "
        "CLIP (47.83), by its rows above.",
    ),
    Misprint(
        "domain adaption",
        "openworldauc",
        ("15",),
        "The column headed domain adaption repeats Table 4's source column, ImageNet, for all 11 methods. The means of "
        "Table 4's four targets are lower: CLIP 35.73, GMoP 39.70.",
    ),
    Misprint(
        "DePT-Kg in detail",
        "openworldauc",
        ("8-9", "10", "14"),
        "DePT-Kg differs between Table 14 and Table 10: AUROC 90.21 and 94.21, OpenworldAUC 41.45 and 42.45 on "
        "ImageNetV2; AUROC 86.84 and 87.84, OpenworldAUC 23.37 and 23.97 on ImageNet-Sketch. Its HM differs by 0.01 "
        "between Table 14 and Tables 8-9 on Flowers102 and ImageNet.",
    ),
    Misprint(
        "HM of GMoP",
        "openworldauc",
        ("10", "14"),
        "GMoP's HM on ImageNetV2 is printed as 67.02, but its accuracies of 71.04 and 63.60 give 67.11. The other 35 "
        "harmonic means of Tables 11, 12 and 14 recompute within 0.0125.",
    ),
    Misprint(
        "HM of TCP",
        "openworldauc",
        ("8-9", "12"),
        "TCP's HM on Flowers102 is 84.34 in Tables 8-9 and 85.15 at ratio 1 in Table 12, while AUROC and OpenworldAUC "
        "agree within 0.01. The printed average uses 84.34.",
    ),
    Misprint(
        "best of Table 3",
        "openworldauc",
        ("3",),
        "The text says that GMoP is best on all data sets of Table 3; Gallop is above it on DTD (Fwd), DeCoOp on "
        "Food101 (Bwd).",
    ),
    Misprint(
        "gates",
        "openworldauc",
        ("17",),
        "The sigmoid gate is best on average only: both other gates are above it on DTD, the 0-1 gate on UCF101.",
    ),
    Misprint(
        "Table 3 against Table 2",
        "openworldauc",
        ("2", "3", "15"),
        "Leaving out base or new images at random changes OpenworldAUC by chance alone, and CLIP learns nothing. "
        "Yet CLIP on OxfordPets is 76.17 in Table 2, and 82.82 (Fwd) and 80.30 (Bwd) in Table 3: 6 and 3 standard "
        "deviations of one simulated draw (1.0 and 1.3 points), both upwards. CoOp on Flowers102 is 59.65, and "
        "52.64 and 51.03. Of 110 cells the median distance is 0.28; nine are more than 2 points away: four of CoOp, "
        "three of CLIP, two of MaPLe.",
    ),
    Misprint(
        "detection of Gallop",
        "openworldauc",
        ("14",),
        "The text (D.5) says that Gallop excels at BaseAcc and AUROC. Its BaseAcc is the highest of the four "
        "methods on all four sets, but its AUROC (94.50, 95.93, 94.20, 87.93) is below DeCoOp's (96.84, 96.22, "
        "95.02, 91.02) and GMoP's on all of them.",
    ),
    Misprint(
        "PA - NA",
        "openpl",
        _BY_DATASET,
        "By definition PA - NA equals AUC - AUC(CLIP); printed, delta_PN is above delta_AUC by 0.002 to 0.015 in 28 of "
        "220 rows: 21 under varying ratio, 7 under emerging classes; 10 of CoOp, 6 of CoCoOp.",
    ),
    Misprint(
        "PA - NA on EuroSAT",
        "openpl",
        ("5",),
        "AUC - AUC(CLIP) and PA - NA, which should be equal: VPT -0.048 and -0.023, MaPLe 0.000 and 0.011, ProDA 0.015 "
        "and 0.022, TCP 0.001 and 0.006.",
    ),
    Misprint(
        "ties broken silently",
        "openpl",
        ("6", "7", "8", "9", *_BY_DATASET),
        "18 pairs of neighbours with equal printed Friedman ranks have different final ranks; openworld shares the "
        "average rank among ties.",
    ),
    Misprint(
        "no meaningful improvement",
        "openpl",
        ("6", "7"),
        "The abstract says that no meaningful improvement over zero-shot is achieved. In Table 6 nine of ten "
        "methods have an AUC that is 0.053 to 0.102 larger than CLIP's, and 0.013 to 0.074 in Table 7; under "
        "emerging classes PromptSRC is above CLIP on all eleven data sets.",
    ),
    Misprint(
        "ten methods",
        "openpl",
        ("6", "7", "8", "9"),
        "The text announces 11 prompt learning methods and names ten; the tables have these ten and CLIP.",
    ),
    Misprint(
        "decay-gain-ratio robustness",
        "openpl",
        ("6", "7", "8", "9"),
        "Decay-gain-ratio robustness is defined as PA - NA <= delta_PN, which a method that only loses fulfils "
        "best; the definition beside it has AUC - AUC(CLIP) >= delta_AUC, which is the same number, so that >= is "
        "meant.",
    ),
    Misprint(
        "IM's average",
        "frap",
        ("1",),
        "IM's average error is printed as 13.76, but its eighteen rows average 14.04. All other averages are the means "
        "of their rows.",
    ),
    Misprint(
        "deviations as fractions",
        "frap",
        ("1", "3", "6", "7"),
        "Deviations are printed as fractions beside means in percent (12.42 ± 0.10 is 12.42 ± 10 points): times 100 "
        "they are 0.75 times the mean (median of Table 1's 198), as of absolute errors they should be. So they are of "
        "the errors of single conditions and models, not of seeds.",
    ),
    Misprint(
        "best on six rows",
        "frap",
        ("1",),
        "FRAP with CLIP is best on 6 of 18 rows, as the text says; so is COTT. COT is best on 3; DoC, ATC-NE and FRAP "
        "with SigLIP on one each.",
    ),
    Misprint(
        "the best average",
        "frap",
        ("4", "7"),
        "The lowest average of the paper, 5.65, is of SigLIP at its own fixed temperature, without the proposed "
        "calibration (7.32); with CLIP calibration gains 0.08 (6.61 and 6.53).",
    ),
    Misprint(
        "consistently above Base",
        "frap",
        ("4", "7"),
        "The text says that FRAP consistently outperforms Base, the reference's own answers; by rows Base is better "
        "than calibrated FRAP on 7 of 18 with CLIP and on 9 with SigLIP. A random reference is better than CLIP on 10.",
    ),
    Misprint(
        "no shift in C100-N",
        "frap",
        ("1", "3", "6", "7"),
        "C100-N, a natural shift by its name, is CIFAR-100's own test set. C10-N is CIFAR-10.1 in the text and "
        "CIFAR-10v2 in the appendix; code of the methods that it is compared with reads CIFAR-10.2, and so do we.",
    ),
    Misprint(
        "cost of COT",
        "frap",
        ("1",),
        "The text says that COT's cost grows with the square or cube of the classes; of the published form, which "
        "repeats classes until there are as many as images, it grows so with the images. One column per class gives "
        "the same value.",
    ),
    Misprint(
        "nearly forty points",
        "is-ood",
        ("1",),
        "The text says that from the smallest semantic shift to the largest most detectors but GradNorm and RankFeat "
        "gain nearly 40 points of AUROC. Printed slope and correlation bound the gain of eight levels: MDS gains 29.3 "
        "points at most.",
    ),
    Misprint(
        "semantic shift first",
        "is-ood",
        ("1", "2"),
        "The text says that semantic shift is the primary factor. RankFeat's AUROC is more sensitive to covariate "
        "shift on both data sets (0.83 and 0.79; 1.03 and 0.91), MDS's on Syn-IS (2.91 and 2.71).",
    ),
    Misprint(
        "GradNorm relies less on semantics",
        "is-ood",
        ("1", "2"),
        "The text says that GradNorm relies less on semantic shift. On Syn-IS its semantic sensitivity, 2.85 with "
        "correlation 0.98, is the fourth of eight, above MSP, ODIN and MDS; on ImageNet-21K, 1.27, the seventh.",
    ),
    Misprint(
        "ODIN is the steadiest",
        "is-ood",
        ("1", "4"),
        "ODIN, least sensitive to covariate shift by AUROC (0.46), is third by FPR@95 (1.16), after RankFeat (0.06) "
        "and GradNorm (0.21); KNN, most sensitive to semantic shift by AUROC, is third by FPR@95, after ASH and ODIN. "
        "The appendix calls the two tables generally consistent.",
    ),
    Misprint(
        "AUROC and FPR disagree",
        "is-ood",
        ("2", "5", "7"),
        "As looks move away on Syn-IS, DICE's AUROC falls (-0.41) and so does its FPR@95 (-0.83), which should rise, "
        "while its AUPR has no trend (0.08). In the other 31 pairs of Tables 1, 2, 4 and 5 the two have opposite "
        "signs.",
    ),
    Misprint(
        "AUPR follows the counts",
        "is-ood",
        ("6", "7"),
        "With covariate shift on ImageNet-21K all AUPR rise by 7.09 to 9.61 points per level, while seven of eight "
        "AUROC fall: cells with few pictures have a large AUPR, as the text says. At equal counts (Syn-IS) it is 0.59 "
        "at most.",
    ),
    Misprint(
        "little semantics left",
        "is-ood",
        ("3",),
        "The text says that covariate features hold very little semantics. LAID's name 7.31 % of ImageNet-1K, 73 times "
        "chance, and more than PCA's (0.93) in all six columns.",
    ),
    Misprint(
        "MDS without labels",
        "is-ood",
        ("1", "2", "4", "5", "6", "7", "8"),
        "The released loader gives every training picture class 0, with which the released MDS scores NaN: its rows "
        "must come from other code. Ours takes true labels.",
    ),
)


def misprints_of(paper: str, table: str) -> tuple[Misprint, ...]:
    """The known contradictions that concern one table.

    >>> [one.name for one in misprints_of("openworldauc", "15")]
    ["CoOp's average", 'domain adaption', 'Table 3 against Table 2']
    """
    return tuple(misprint for misprint in MISPRINTS if misprint.paper == paper and table in misprint.tables)
