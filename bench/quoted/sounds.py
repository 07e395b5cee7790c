"""Two worlds of the pool that are spoken words: `words` by espeak-ng, and `vowels` by a law of formants in NumPy.

Twenty words (`WORDS`), a class each, at 8 kHz. `words` needs the program espeak-ng (`apt install espeak-ng`); `vowels`
says the vowels of the words, each as harmonics of a voice under two formants, and needs nothing. Speakers are dealt to
training and test (the same ones, other utterances), references, and the shift to other speakers. Seven families: other
speakers, speed, pitch, noise, band limits, clipping, echo. A sound is read as 16 mel bands of 20 moments.

    network-*   judged: a hidden layer on the bands, fitted until nothing is left to learn
    forest-*    judged: 100 trees on the bands
    linear-*    judged: logistic regression on the bands, strongly held back: not sure enough
    reference        15 nearest neighbours of words of other speakers, loudness taken out
    reference_weak   duration and loudness

    python bench/quoted/sounds.py --out POOL [--world vowels] [--seeds 0,1]        words: some three minutes a seed
"""

import io
import subprocess
import wave
from collections.abc import Callable
from functools import partial

import classifiers
import numpy as np
import pool
from numpy.typing import NDArray
from scipy import fft, signal
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

Sounds = NDArray[np.float64]
Speak = Callable[[str, str, float, float], NDArray]
"""(word, speaker, speed as a factor, pitch as a factor) -> samples at RATE, of any length."""

WORDS = [
    "yes", "no", "up", "down", "left", "right", "stop", "go", "wait", "start", "open", "close", "seven", "eleven",
    "nine", "five", "water", "fire", "mother", "brother",
]  # fmt: skip
RATE, LENGTH = 8_000, 7_200
SPEAKERS = [
    "adam", "Alex", "Alicia", "Andrea", "Andy", "Annie", "antonio", "aunty", "belinda", "benjamin", "boris", "caleb",
    "david", "Denis", "Diogo", "ed", "edward", "Gene", "Gustave", "Henrique", "Hugo", "iven", "Jacky", "John",
    "kaukovalta", "Lee", "linda", "marcelo", "Marco", "Mario", "max", "Michael", "michel", "miguel", "mike", "Nguyen",
    "pablo", "paul", "pedro", "quincy", "rob", "robert",
]  # fmt: skip
COUNTS = {"train": 1_200, "reference": 1_200, "source": 1_200, "same--unseen": 1_200}
SHIFTED = 500
FORMANTS = {"a": (730, 1090), "e": (530, 1840), "i": (270, 2290), "o": (570, 840), "u": (300, 870), "y": (400, 1500)}


def by_espeak(word: str, speaker: str, speed: float, pitch: float) -> NDArray:
    """Return what espeak-ng says."""
    settings = ["-v", f"en-us+{speaker}", "-s", str(round(160 * speed)), "-p", str(round(50 * pitch)), "--stdout"]
    said = subprocess.run(["espeak-ng", *settings, word], capture_output=True, check=True).stdout
    with wave.open(io.BytesIO(said)) as file:
        rate, samples = file.getframerate(), np.frombuffer(file.readframes(file.getnframes()), dtype=np.int16)
    return signal.resample_poly(samples / 32_768, RATE, rate)


def by_formants(word: str, speaker: str, speed: float, pitch: float) -> NDArray:
    """Return the letters of a word as vowels and hisses, 80 ms each, by a made-up speaker."""
    voice = np.random.default_rng(list(speaker.encode()))
    hum, throat, breath = 100 * 2 ** voice.uniform(0, 1.2) * pitch, voice.uniform(0.85, 1.2), voice.uniform(0.01, 0.05)
    step = round(0.08 * RATE / speed)
    moments, parts = np.arange(step) / RATE, []
    for letter in word:
        parts.append(breath * voice.normal(size=step))
        if letter not in FORMANTS:
            parts[-1] *= 1 + ord(letter) % 5
            continue
        for tone in np.arange(hum, RATE / 2, hum):
            peaks = sum(1 / (1 + ((tone - throat * peak) / 120) ** 2) for peak in FORMANTS[letter])
            parts[-1] = parts[-1] + 0.2 * peaks * np.sin(2 * np.pi * tone * moments)
    return np.concatenate(parts)


def utterances(speak: Speak, speakers: list[str], count: int, draws: np.random.Generator, speed=1.0, pitch=1.0):
    """Return sounds [n, LENGTH] and labels: words, speakers, speed and pitch by chance, and a little of the room."""
    labels, sounds = draws.integers(0, len(WORDS), count), np.zeros((count, LENGTH))
    for sound, label in zip(sounds, labels, strict=True):
        wishes = speed * 2 ** draws.normal(0, 0.15), pitch * 2 ** draws.normal(0, 0.3)
        said = speak(WORDS[label], draws.choice(speakers), *wishes)[: LENGTH - 400]
        first = draws.integers(0, 400)
        sound[first : first + len(said)] = said / (np.abs(said).max() + 1e-9) * draws.uniform(0.3, 0.9)
        sound += 0.003 * draws.normal(size=LENGTH)
    return sounds, labels


def noisy(sounds: Sounds, draws: np.random.Generator, *, deviation: float) -> Sounds:
    return sounds + deviation * draws.normal(size=sounds.shape)


def babble(sounds: Sounds, draws: np.random.Generator, *, share: float) -> Sounds:
    """Add what another speaker of the set says."""
    return sounds + share * sounds[draws.permutation(len(sounds))]


def band(sounds: Sounds, _, *, low: float, high: float) -> Sounds:
    """Keep the frequencies between two limits, in hertz."""
    return signal.sosfilt(signal.butter(4, (low, high), "band", fs=RATE, output="sos"), sounds, axis=1)


def echoed(sounds: Sounds, _, *, milliseconds: int) -> Sounds:
    delay = RATE * milliseconds // 1_000
    later = np.pad(sounds, ((0, 0), (delay, 0)))[:, :LENGTH]
    return sounds + 0.6 * later + 0.35 * np.pad(later, ((0, 0), (delay, 0)))[:, :LENGTH]


SHIFTS: dict[str, Callable[[Sounds, np.random.Generator], Sounds]] = (
    {f"noise--white-{d:g}": partial(noisy, deviation=d) for d in (0.01, 0.04, 0.12)}
    | {f"noise--babble-{s:g}": partial(babble, share=s) for s in (0.15, 0.5)}
    | {f"band--{a}-{b}": partial(band, low=a, high=b) for a, b in ((300, 3_400), (100, 1_500), (900, 3_000))}
    | {f"clipping--{c:g}": lambda sounds, _, c=c: np.clip(sounds, -c, c) for c in (0.2, 0.05, 0.01)}
    | {f"echo--{t}-ms": partial(echoed, milliseconds=t) for t in (40, 120)}
)
SPOKEN = {
    "speed--0.7": {"speed": 0.7}, "speed--1.25": {"speed": 1.25}, "speed--1.6": {"speed": 1.6},
    "pitch--0.5": {"pitch": 0.5}, "pitch--1.6": {"pitch": 1.6},
}  # fmt: skip
RECIPES = {
    "network": lambda seed: make_pipeline(
        StandardScaler(), MLPClassifier((96,), alpha=0, max_iter=100, tol=0, random_state=seed)
    ),
    "forest": lambda seed: RandomForestClassifier(100, random_state=seed),
    "linear": lambda seed: make_pipeline(StandardScaler(), LogisticRegression(C=1e-3, max_iter=200)),
}
SPEAK = {"words": by_espeak, "vowels": by_formants}


def bands(sounds: Sounds) -> NDArray:
    """Return float[n, 320]: log energy of 16 mel bands at 20 moments."""
    frames = np.lib.stride_tricks.sliding_window_view(sounds, 512, axis=1)[:, ::352][:, :20] * np.hanning(512)
    energies = np.abs(fft.rfft(frames)) ** 2
    edges = 700 * (np.exp(np.linspace(0, np.log1p(RATE / 2 / 700), 18)) - 1)
    tones = np.arange(257) * RATE / 512
    rising, falling = (tones - edges[:-2, None]), (edges[2:, None] - tones)
    widths = np.diff(edges)[:, None]
    weights = np.clip(np.minimum(rising / widths[:-1], falling / widths[1:]), 0, None)
    return np.log(energies @ weights.T + 1e-3).reshape(len(sounds), -1)


def image_sets(speak: Speak, seed: int, counts: dict[str, int], shifted: int) -> dict[str, tuple[NDArray, NDArray]]:
    """Return bands and labels: training, references, source, unshifted target and every shifted set."""
    draws = np.random.default_rng(seed)
    shown, known, others = np.array_split(draws.permutation(SPEAKERS), 3)
    speakers = {"reference": known}
    said = {name: utterances(speak, speakers.get(name, shown), count, draws) for name, count in counts.items()}
    base, labels = (part[:shifted] for part in said["same--unseen"])
    for number, (name, shift) in enumerate(SHIFTS.items()):
        said[name] = shift(base, np.random.default_rng([seed, 2, number])), labels
    for name, settings in SPOKEN.items():
        said[name] = utterances(speak, shown, shifted, draws, **settings)
    said["speakers--others"] = utterances(speak, others, shifted, draws)
    said["speakers--three"] = utterances(speak, others[:3], shifted, draws)
    return {name: (bands(sounds), labels) for name, (sounds, labels) in said.items()}


def level(rows: NDArray) -> NDArray:
    """Take the loudness of every moment out of the bands."""
    moments = rows.reshape(len(rows), 20, 16)
    return (moments - 0.7 * moments.mean(axis=2, keepdims=True)).reshape(len(rows), -1)


def loudness(rows: NDArray) -> NDArray:
    """Return the loudness of all, and how much of the time is loud."""
    moments = rows.reshape(len(rows), 20, 16).mean(axis=2)
    return np.stack([moments.mean(axis=1), (moments > 0).mean(axis=1)], axis=1)


def build(name: str, seed: int, counts: dict[str, int] = COUNTS, shifted: int = SHIFTED) -> pool.World:
    """Return the fitted world of a seed."""
    sets = image_sets(SPEAK[name], seed, counts, shifted)
    (rows, labels), (known, kinds) = sets.pop("train"), sets.pop("reference")
    models = {name: classifiers.judged(make, rows, labels, seed) for name, make in RECIPES.items()}
    reference = KNeighborsClassifier(15, weights="distance").fit(level(known), kinds)
    weak = make_pipeline(StandardScaler(), LogisticRegression()).fit(loudness(known), kinds)
    return pool.World(WORDS, sets, models, classifiers.reader(reference, level), classifiers.reader(weak, loudness))


def main(arguments: list[str] | None = None) -> None:
    pool.main(__doc__, {name: partial(build, name) for name in SPEAK}, arguments)


if __name__ == "__main__":
    main()
