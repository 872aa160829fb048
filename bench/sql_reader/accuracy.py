"""`make accuracy`: how much of the golden suite the SQL reader says, per construct and dialect; fails below the floor.

A case is exact when its whole set of lines is. Precision and recall are of lines, over the cases of a row. A silent
error is a case that is not exact although no statement of it has failed, is partial, or has a known unknown.
`--fuzz 10000000`, `--tpcds`, `--deep 5000` and `--spark 300` are the long passes of the oracles (oracle.py);
`--confidence` measures what a confidence is worth (confidence.py).
"""

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.sql_reader import confidence
from bench.sql_reader import oracles as oracle
from capture.sql.golden_cases import FOLDER, Case, Verdict, golden_cases, judge

FLOOR = FOLDER / "floor.txt"


@dataclass(frozen=True, slots=True)
class Score:
    """One row: cases, cases exact, lines expected, said, and both, and cases that are wrong without a warning."""

    cases: int = 0
    exact: int = 0
    expected: int = 0
    found: int = 0
    both: int = 0
    silent: int = 0

    def __add__(self, other: "Score") -> "Score":
        return Score(
            self.cases + other.cases,
            self.exact + other.exact,
            self.expected + other.expected,
            self.found + other.found,
            self.both + other.both,
            self.silent + other.silent,
        )

    @property
    def shares(self) -> tuple[float, float, float]:
        """Exact cases, precision, recall; of nothing all is right."""
        return _share(self.exact, self.cases), _share(self.both, self.found), _share(self.both, self.expected)

    @property
    def silent_share(self) -> float:
        """Silent errors among the cases; of nothing none is."""
        return self.silent / self.cases if self.cases else 0.0


def score_of(verdict: Verdict) -> Score:
    """One case as a score."""
    expected, found = verdict.expected, verdict.found
    return Score(1, verdict.exact, len(expected), len(found), len(expected & found), verdict.silent)


def below(scores: Mapping[str, Score], floor: Mapping[str, tuple[float, ...]]) -> Iterator[str]:
    """What has dropped, one sentence each. A row of the floor that no case belongs to has dropped to nothing."""
    for name, (*least, most_silent) in floor.items():
        shares = scores[name].shares if name in scores else (0.0, 0.0, 0.0)
        silent = scores[name].silent_share if name in scores else 0.0
        if round(silent, 4) > most_silent:
            yield f"{name}: silent errors {silent:.4f} are above {most_silent:.4f}"
        for what, has, needs in zip(("exact", "precision", "recall"), shares, least, strict=True):
            if round(has, 3) < needs:
                yield f"{name}: {what} {has:.3f} is below {needs:.3f}"


def read_floor(path: Path = FLOOR) -> dict[str, tuple[float, ...]]:
    """Rows of `name exact precision recall silent`: the least of three shares, and the most of the fourth."""
    rows = (line.split() for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#"))
    return {name: tuple(map(float, shares)) for name, *shares in rows}


def main() -> None:
    """The table, or the passes that are asked for; exit 1 where it is below the floor, or one has complaints."""
    parser = ArgumentParser(prog="python -m bench.sql_reader.accuracy", description=__doc__)
    parser.add_argument("--fuzz", type=int, metavar="N", help="N characters of broken SQL")
    parser.add_argument("--tpcds", action="store_true", help="TPC-DS on DuckDB")
    parser.add_argument("--confidence", action="store_true", help="how often edges of a confidence are right")
    parser.add_argument("--deep", type=int, metavar="N", help="N generated queries on DuckDB")
    parser.add_argument("--spark", type=int, metavar="N", help="N generated queries on Spark")
    parser.add_argument("--seed", type=int, default=0, help="the first number (0)")
    parser.add_argument("--tries", type=int, default=4, help="data for each query of TPC-DS (4)")
    asked = parser.parse_args()
    passes: tuple[tuple[int | None, Callable[[], int]], ...] = (
        (asked.fuzz, lambda: oracle.fuzz(asked.fuzz, asked.seed)),
        (asked.tpcds, lambda: oracle.of_tpcds(asked.tries)),
        (asked.deep, lambda: oracle.deep(asked.deep, asked.seed)),
        (asked.spark, lambda: oracle.of_spark(asked.spark, asked.seed)),
    )
    if asked.confidence:
        sys.stdout.writelines(f"{line}\n" for line in confidence.table(confidence.bands()))
        return
    wrong = [run() for wanted, run in passes if wanted]
    if not wrong:
        print_table()
    sys.exit(bool(sum(wrong)))


def print_table() -> None:
    """The golden suite, row by row; exits with what has dropped."""
    judged = [(case, _judged(case)) for case in golden_cases()]
    scores = dict(_scores(judged))
    sys.stdout.write(f"{'':28}{'exact':>13}{'share':>11}{'precision':>11}{'recall':>11}{'silent errors':>22}\n")
    for name, score in scores.items():
        shares = "".join(f"{share:11.3f}" for share in score.shares)
        sys.stdout.write(
            f"{name:28}{score.exact:5} of {score.cases:4}{shares}{score.silent:12} = {score.silent_share:7.4f}\n"
        )
    if dropped := list(below(scores, read_floor())):
        sys.exit("\n".join(dropped))


def _scores(judged: Iterable[tuple[Case, Score]]) -> Iterator[tuple[str, Score]]:
    judged = list(judged)
    groups: tuple[Callable[[Case], str], ...] = (
        lambda case: f"dialect:{case.dialect}",
        lambda case: f"construct:{case.construct}",
        lambda _: "all",
    )
    for group in groups:
        for name in sorted({group(case) for case, _ in judged}):
            yield name, sum((score for case, score in judged if group(case) == name), Score())


def _judged(case: Case) -> Score:
    try:
        return score_of(judge(case))
    except Exception as error:
        sys.stderr.write(f"{case.id}: {error!r}\n")
        return Score(cases=1, expected=len(case.claims), silent=1)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


if __name__ == "__main__":
    main()
