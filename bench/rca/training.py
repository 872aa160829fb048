"""Training of the weights: a conditional logit over incidents of estates with all kinds of settings, offline."""

import argparse
import sys
from collections.abc import Sequence
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from bench.rca.cases import incidents
from bench.rca.estates import PUBLISHED
from whence.query.diagnosis.anomalies import Floats
from whence.query.diagnosis.features import features_of
from whence.query.diagnosis.signals import read_signals

SEED = 1_000
"""Of the first training estate. The benchmark's seeds are others."""

Case = tuple[Floats, int]
"""The features of the candidates, and the place of the cause."""


def read_cases(seed: int) -> tuple[tuple[str, ...], list[Case]]:
    """The cases of one estate: two of three have a setting of their own, the third the published one."""
    found: list[Case] = []
    names: tuple[str, ...] = ()
    for one in incidents(seed, 1, 8, PUBLISHED if seed % 3 == 0 else None):
        names, rows = features_of(read_signals(one.case))
        found.append((rows, [each.key for each in one.case.candidates].index(one.cause)))
    return names, found


def fit(cases: Sequence[Case], penalty: float) -> Floats:
    """The weights that make the true causes most probable, with a penalty on their squares."""
    rows = np.concatenate([rows for rows, _ in cases])
    starts = np.cumsum([0, *(len(rows) for rows, _ in cases)])[:-1]
    owner = np.repeat(np.arange(len(cases)), [len(rows) for rows, _ in cases])
    causes = starts + np.array([cause for _, cause in cases])

    def loss(weights: Floats) -> tuple[float, Floats]:
        utilities = rows @ weights
        highest = np.maximum.reduceat(utilities, starts)
        powers = np.exp(utilities - highest[owner])
        totals = np.add.reduceat(powers, starts)
        surprise = -(utilities[causes] - highest - np.log(totals)).sum()
        gradient = rows.T @ (powers / totals[owner]) - rows[causes].sum(axis=0)
        return surprise + penalty * weights @ weights, gradient + 2 * penalty * weights

    start, options = np.zeros(rows.shape[1]), {"maxiter": 2_000}
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", options=options).x)


def write(path: Path, names: Sequence[str], weights: Floats, cases: int) -> None:
    """Write the weights as the module that the package ships."""
    lines = "".join(f'    "{name}": {weight:.3f},\n' for name, weight in zip(names, weights, strict=True))
    path.write_text(
        '"""The weights of the features, as `python -m bench.rca.training` fitted them to '
        f'{cases:,} simulated incidents."""\n\n'
        f"from typing import Final\n\nWEIGHTS: Final = {{\n{lines}}}\n"
    )


def main(arguments: Sequence[str]) -> None:
    """Fit the weights, and write them into the package."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--estates", type=int, default=500)
    parser.add_argument("--penalty", type=float, default=2.0)
    parser.add_argument("--output", type=Path, default=Path("src/whence/query/diagnosis/weights.py"))
    options = parser.parse_args(arguments)
    with Pool() as pool:
        read = pool.map(read_cases, range(SEED, SEED + options.estates), chunksize=4)
    cases = [case for _, several in read for case in several]
    write(options.output, read[0][0], fit(cases, options.penalty), len(cases))


if __name__ == "__main__":
    main(sys.argv[1:])
