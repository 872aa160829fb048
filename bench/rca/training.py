"""Training of the weights: a conditional logit over incidents of estates with all kinds of settings, offline."""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from bench.rca.cases import Incident, incidents
from bench.rca.estates import PUBLISHED
from bench.rca.incidents import FAULTS
from whence.query.diagnosis.anomalies import Floats
from whence.query.diagnosis.case import Candidate, Case
from whence.query.diagnosis.features import features_of
from whence.query.diagnosis.signals import read_signals

SEED = 1_000
"""Of the first training estate. The benchmark's seeds are others."""

Example = tuple[Floats, int, int]
"""The features of the candidates, the place of the cause, and that of its kind of fault."""


def read_cases(seed: int) -> tuple[tuple[str, ...], list[Example]]:
    """The cases of one estate: two of three have a setting of their own, the third the published one."""
    found: list[Example] = []
    names: tuple[str, ...] = ()
    for one in incidents(seed, 1, 8, PUBLISHED if seed % 3 == 0 else None):
        case = one.case if seed % 3 == 0 else as_asked(one, seed)
        names, rows = features_of(read_signals(case))
        cause = [each.key for each in one.case.candidates].index(one.cause)
        found.append((rows, cause, FAULTS.index(one.fault)))
    return names, found


def as_asked(incident: Incident, seed: int) -> Case:
    """The case as people ask it: often no job reports on what comes from outside, and nobody says what is wrong.

    What nobody reports on is the cause a tenth as often: people name the first dataset that shows it.
    """
    share = np.random.default_rng(seed).uniform(-0.5, 1)

    def reported(one: Candidate) -> Candidate:
        hidden = share / 10 if one.key == incident.cause else share
        is_known = bool(one.parents) or np.random.default_rng([seed, one.key]).random() >= hidden
        return one if is_known else replace(one, series=(), writes=(), changes=(), has_commits=False)

    case = incident.case
    has_symptom = np.random.default_rng([seed, case.since, incident.cause]).random() < 0.5
    return replace(
        case, symptom=case.symptom if has_symptom else None, candidates=tuple(map(reported, case.candidates))
    )


def fit(cases: Sequence[Example], shared: float, apart: float) -> Floats:
    """The weights (features × kinds) that make the true pairs of a cause and a kind most probable.

    `shared` is the penalty on the squares of what the kinds have in common, `apart` on the squares of what they have
    not: few incidents of a kind are no reason to weigh a feature differently for it. Penalties are on features of unit
    variance.
    """
    rows = np.concatenate([rows for rows, _, _ in cases])
    middle, spread = rows.mean(axis=0), rows.std(axis=0)
    middle[spread == 0], spread[spread == 0] = 0, 1
    rows = (rows - middle) / spread
    starts = np.cumsum([0, *(len(rows) for rows, _, _ in cases)])[:-1]
    owner = np.repeat(np.arange(len(cases)), [len(rows) for rows, _, _ in cases])
    causes, kinds = starts + np.array([cause for _, cause, _ in cases]), np.array([kind for _, _, kind in cases])
    size = rows.shape[1]

    def loss(weights: Floats) -> tuple[float, Floats]:
        common, own = weights[:size], weights[size:].reshape(size, len(FAULTS))
        utilities = rows @ (common[:, None] + own)
        highest = np.maximum.reduceat(utilities.max(axis=1), starts)
        powers = np.exp(utilities - highest[owner][:, None])
        totals = np.add.reduceat(powers.sum(axis=1), starts)
        surprise = -(utilities[causes, kinds] - highest - np.log(totals)).sum()
        excess = powers / totals[owner][:, None]
        excess[causes, kinds] -= 1
        gradient = rows.T @ excess
        of_common, of_own = gradient.sum(axis=1) + 2 * shared * common, gradient + 2 * apart * own
        penalty = shared * common @ common + apart * float((own * own).sum())
        return surprise + penalty, np.concatenate([of_common, of_own.ravel()])

    start, options = np.zeros(size * (1 + len(FAULTS))), {"maxiter": 300}
    found = np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x)
    weights = (found[:size, None] + found[size:].reshape(size, len(FAULTS))) / spread[:, None]
    # What was subtracted from the features is a constant of each kind.
    weights[-1] -= middle @ weights
    return np.asarray(weights)


def write(path: Path, names: Sequence[str], weights: Floats, cases: int) -> None:
    """Write the weights as the module that the package ships."""
    lines = "".join(
        f'    "{name}": ({", ".join(f"{weight:.3f}" for weight in several)}),\n'
        for name, several in zip(names, weights, strict=True)
    )
    kinds = ", ".join(f'"{kind}"' for kind in FAULTS)
    path.write_text(
        '"""The weights of the features, as `python -m bench.rca.training` fitted them to '
        f'{cases:,} simulated incidents."""\n\n'
        f"from typing import Final\n\nKINDS: Final = ({kinds})\n"
        f'"""The kinds of faults, in the order of the weights."""\n\nWEIGHTS: Final = {{\n{lines}}}\n'
    )


def main(arguments: Sequence[str]) -> None:
    """Fit the weights, and write them into the package."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--estates", type=int, default=180)
    parser.add_argument("--shared", type=float, default=5.0)
    parser.add_argument("--apart", type=float, default=30.0)
    parser.add_argument("--output", type=Path, default=Path("src/whence/query/diagnosis/weights.py"))
    options = parser.parse_args(arguments)
    with Pool() as pool:
        read = pool.map(read_cases, range(SEED, SEED + options.estates), chunksize=4)
    cases = [case for _, several in read for case in several]
    write(options.output, read[0][0], fit(cases, options.shared, options.apart), len(cases))


if __name__ == "__main__":
    main(sys.argv[1:])
