"""The benchmark of root causes: how often the true cause is among the first, and what the probabilities mean."""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import Pool

import numpy as np

from bench.rca.baselines import RANKERS, place_of
from bench.rca.cases import Incident, incidents
from bench.rca.estates import PUBLISHED, Setting
from whence.query.diagnosis.ranking import probabilities_of
from whence.query.diagnosis.signals import read_signals

SEED = 77_000
"""Of the first estate that is measured; training used others."""

REPEATS = 500
"""How often estates are drawn again for an interval."""

WORLDS: dict[str, Setting | None] = {
    "as published": PUBLISHED,
    "other fault rates": replace(PUBLISHED, faults=(0.5, 0.5, 2, 3, 1, 0.5)),
    "twice the noise": replace(PUBLISHED, noise=0.08, dip_rate=0.05, late_rate=0.05),
    "three times the commits": replace(PUBLISHED, commit_rate=0.12, schema_rate=0.03),
    "few measurements": replace(PUBLISHED, rows_known=0.4, columns_known=0.15, commits_known=0.5),
    "many measurements": replace(PUBLISHED, rows_known=0.95, columns_known=0.9, commits_known=1.0),
    "no commits": replace(PUBLISHED, commits_known=0.0),
    "short history": replace(PUBLISHED, days=12),
    "any distance": replace(PUBLISHED, hops=0),
    "settings at random": None,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """Of one incident: the place of the true cause by each ranker, and what the first candidate's probability was.

    `estate`: its seed.
    """

    estate: int
    fault: str
    places: dict[str, int]
    probability: float
    candidates: int


def outcome(incident: Incident, estate: int) -> Outcome:
    """What each ranker says about an incident of an estate."""
    signals = read_signals(incident.case)
    cause = [one.key for one in incident.case.candidates].index(incident.cause)
    places = {name: place_of(cause, ranker(signals)) for name, ranker in RANKERS.items()}
    highest = float(probabilities_of(signals).max())
    return Outcome(estate, incident.fault, places, highest, len(incident.case.candidates))


def of_estate(question: tuple[int, Setting | None, int]) -> list[Outcome]:
    """The outcomes of one estate's incidents."""
    seed, setting, each = question
    return [outcome(one, seed) for one in incidents(seed, 1, each, setting)]


def share_within(outcomes: Sequence[Outcome], ranker: str, first: int) -> float:
    """The share of incidents whose true cause is among the first candidates."""
    return float(np.mean([one.places[ranker] < first for one in outcomes]))


def calibration_error(outcomes: Sequence[Outcome], bins: int = 10) -> float:
    """The expected calibration error of the first candidate's probability, over bins of equal width."""
    stated = np.array([one.probability for one in outcomes])
    right = np.array([one.places["whence diagnose"] == 0 for one in outcomes], float)
    bin_of = np.minimum((stated * bins).astype(int), bins - 1)
    return float(
        sum(np.mean(bin_of == at) * abs(stated[bin_of == at].mean() - right[bin_of == at].mean()) for at in set(bin_of))
    )


def interval(outcomes: Sequence[Outcome], statistic: Callable[[Sequence[Outcome]], float]) -> tuple[float, float]:
    """The 95 % interval of a statistic, if other estates had been drawn: those that were are drawn again."""
    by_estate: dict[int, list[Outcome]] = {}
    for one in outcomes:
        by_estate.setdefault(one.estate, []).append(one)
    several, random = list(by_estate.values()), np.random.default_rng(0)
    drawn = (random.integers(len(several), size=len(several)) for _ in range(REPEATS))
    found = [statistic([one for at in places for one in several[at]]) for places in drawn]
    low, high = np.quantile(found, [0.025, 0.975])
    return float(low), float(high)


def main(arguments: Sequence[str]) -> None:
    """Print the tables of docs/explanation/root-causes.md."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--estates", type=int, default=40)
    parser.add_argument("--each", type=int, default=10)
    parser.add_argument("--processes", type=int, default=None)
    parser.add_argument("--worlds", nargs="+", choices=list(WORLDS), default=list(WORLDS), metavar="WORLD")
    options = parser.parse_args(arguments)
    with Pool(options.processes) as pool:
        for name in options.worlds:
            questions = [(SEED + at, WORLDS[name], options.each) for at in range(options.estates)]
            found = [one for several in pool.map(of_estate, questions, chunksize=1) for one in several]
            print_world(name, found)


def print_world(name: str, found: Sequence[Outcome]) -> None:
    """Print how often each ranker is right, and where `whence diagnose` is not."""
    median = int(np.median([one.candidates for one in found]))
    low, high = interval(found, calibration_error)
    print(f"\n{name}: {len(found)} incidents, median {median} candidates")  # noqa: T201
    print(f"  calibration error {calibration_error(found):.3f} ({low:.3f}-{high:.3f})")  # noqa: T201
    for ranker in RANKERS:
        _print_row(ranker, found, ranker)
    for first in (1, 3):
        low, high = interval(found, partial(share_within, ranker="whence diagnose", first=first))
        print(f"  whence diagnose, first {first}: {low:.3f}-{high:.3f}")  # noqa: T201
    _print_by(found, lambda one: one.fault)
    _print_by(found, lambda one: f"said {int(one.probability * 5) / 5:.1f} or more")


def _print_by(found: Sequence[Outcome], key: Callable[[Outcome], str]) -> None:
    for value in sorted({key(one) for one in found}):
        _print_row(value, [one for one in found if key(one) == value], "whence diagnose")


def _print_row(label: str, found: Sequence[Outcome], ranker: str) -> None:
    shares = "  ".join(f"{share_within(found, ranker, first):.2f}" for first in (1, 3, 5))
    print(f"  {label:<28} {shares}  n={len(found)}")  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
