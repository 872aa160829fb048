"""Which spellings DuckDB has executed. `PYTHONPATH=tests python -m capture.sql.fingerprint.executed` executes all.

A line of `executed.txt` is the hash of a case of `test_normal_forms.py` or `test_typed_forms.py` that held: its first
two texts gave the same rows on every random database, the others gave different rows on one. So CI need not execute
them again; `make nightly-truths` does.
"""

import sys
from functools import cache
from hashlib import blake2b
from pathlib import Path

RECORD = Path(__file__).parent / "executed.txt"
NOT_EXECUTED = "execute and record it: PYTHONPATH=tests .venv/bin/python -m capture.sql.fingerprint.executed"


def digest(*texts: str) -> str:
    return blake2b("\0".join(texts).encode(), digest_size=8).hexdigest()


@cache
def _recorded() -> frozenset[str]:
    return frozenset(RECORD.read_text("utf-8").split())


def is_executed(*texts: str) -> bool:
    """Whether execution showed that the first two texts are the same, and the others are not."""
    return digest(*texts) in _recorded()


def main() -> None:
    from capture.sql.fingerprint import test_normal_forms, test_typed_forms

    found = []
    for one, same, different in test_normal_forms.cases():
        test_normal_forms.check_by_execution(one, same, different)
        found.append(digest(one, same, different))
    for _, one, same, misses in test_typed_forms.spellings():
        test_typed_forms.check_by_execution(one, same, *misses)
        found.append(digest(one, same, *misses))
    RECORD.write_text("".join(f"{line}\n" for line in sorted(found)), "utf-8")
    sys.stdout.write(f"{len(found)} cases hold\n")


if __name__ == "__main__":
    main()
