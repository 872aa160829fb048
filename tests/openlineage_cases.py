"""Golden files: cases of a `# title`, JSON, a line of dashes, and the expected lines, apart by blank lines."""

import json
from pathlib import Path
from typing import Any, NamedTuple

GOLDEN = Path(__file__).parent / "openlineage" / "golden"


class Case(NamedTuple):
    """One case of a golden file."""

    title: str
    given: Any
    expected: list[str]


def load(name: str) -> list[Case]:
    """All cases of a golden file, in order."""
    _, *cases = f"\n{(GOLDEN / name).read_text()}".split("\n# ")
    return [_case(text) for text in cases]


def _case(text: str) -> Case:
    title, _, rest = text.partition("\n")
    given, _, expected = rest.partition("\n----")
    return Case(title, json.loads(given), [line for line in expected.splitlines() if line])
