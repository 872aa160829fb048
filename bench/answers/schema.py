"""Many requests that Schemathesis makes of the API's own description, to a real server: `python -m bench.answers.schema
--requests 50000`. Fails, and says with which request, if any answer is a server's error or not as it is described.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from api.fuzz import Tally, fuzz, operations, served

ROUND = 5
"""Examples of one operation before the next one has its turn; four requests for each."""


def main() -> None:
    """Send them, and print what came back."""
    parser = argparse.ArgumentParser(prog="python -m bench.answers.schema", description=__doc__)
    parser.add_argument("--requests", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="operations with this in their name")
    options = parser.parse_args()
    tally, printed, began = Tally(), 0, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="whence-schema-") as base, served(Path(base)) as (api, target):
        found = [one for one in operations(api) if options.only in one.label]
        seed = options.seed
        while tally.sent < options.requests:
            for one in found:
                fuzz(target, one, ROUND, seed, tally)
            seed += 1
            _say(f"{tally.sent:,} sent, {len(tally.wrong)} kinds of wrong answers")
            for wrong in list(tally.wrong.values())[printed:]:
                _say(f"\n{wrong.operation}\n{wrong.problem}\n{wrong.request}\n")
            printed = len(tally.wrong)
    _report(tally, len(found), time.monotonic() - began)
    sys.exit(1 if tally.wrong else 0)


def _report(tally: Tally, operations: int, seconds: float) -> None:
    _say(f"{tally.sent:,} requests of {operations} operations in {seconds:,.0f} s, by {dict(tally.by_who)}")
    _say(f"statuses: {dict(sorted(tally.statuses.items()))}")
    _say(f"least asked: {tally.operations.most_common()[-1]}")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
