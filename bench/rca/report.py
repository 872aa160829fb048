"""The benchmark of root causes: how often the true cause is among the first, and what the probabilities mean."""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing import Pool

import numpy as np

from bench.rca.baselines import RANKERS, ranks
from bench.rca.cases import Incident, incidents
from bench.rca.estates import PUBLISHED, Setting
from whence.query.diagnosis.ranking import probabilities_of
from whence.query.diagnosis.signals import read_signals

SEED = 77_000
"""Of the first estate that is measured; training used others."""

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
    """Of one incident: the place of the true cause by each ranker, and what the first candidate's probability was."""

    fault: str
    places: dict[str, int]
    probability: float
    candidates: int


def outcome(incident: Incident) -> Outcome:
    """What each ranker says about an incident."""
    probabilities = probabilities_of(read_signals(incident.case))
    places = {name: ranks(incident, ranker) for name, ranker in RANKERS.items()}
    return Outcome(incident.fault, places, float(probabilities.max()), len(incident.case.candidates))


def of_estate(question: tuple[int, Setting | None, int]) -> list[Outcome]:
    """The outcomes of one estate's incidents."""
    seed, setting, each = question
    return [outcome(one) for one in incidents(seed, 1, each, setting)]


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


def main(arguments: Sequence[str]) -> None:
    """Print the tables of docs/explanation/root-causes.md."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--estates", type=int, default=50)
    parser.add_argument("--each", type=int, default=10)
    options = parser.parse_args(arguments)
    with Pool() as pool:
        for name, setting in WORLDS.items():
            questions = [(SEED + at, setting, options.each) for at in range(options.estates)]
            found = [one for several in pool.map(of_estate, questions) for one in several]
            _print_world(name, found, is_whole=setting is PUBLISHED)


def _print_world(name: str, found: Sequence[Outcome], *, is_whole: bool) -> None:
    median = int(np.median([one.candidates for one in found]))
    print(f"\n{name}: {len(found)} incidents, median {median} candidates, ECE {calibration_error(found):.3f}")  # noqa: T201
    for ranker in RANKERS if is_whole else ["whence diagnose"]:
        _print_row(ranker, found, ranker)
    if is_whole:
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
