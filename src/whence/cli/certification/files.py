"""Files of rules, and the report of `whence certification check`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.text import Text

from whence.cli.gate.contracts.files import read_text
from whence.cli.output.mistakes import print_mistakes
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.errors import RulesFileError
from whence.govern.certification.rules import Requirements, Rule
from whence.govern.certification.rules_file import read_certification


def load_rules(file: Path) -> tuple[Rule, ...]:
    """Read a file of rules. Raises RulesFileError with file and line, ArtifactError."""
    return read_certification(read_text(file), file.as_posix())


def show_checked(file: Path, output: Output) -> Exit:
    """Check a file, and print its rules, or its mistakes. Raises ArtifactError."""
    text = read_text(file)
    try:
        found = read_certification(text, file.as_posix())
    except RulesFileError as error:
        return print_mistakes(error, output, {"rules": []})
    if output is Output.JSON:
        print_document({"valid": True, "mistakes": [], "rules": [_document(one) for one in found]})
    else:
        print_lines(Text(line) for line in _lines(found))
    return Exit.OK


def _document(one: Rule) -> dict[str, Any]:
    return {
        "name": one.name,
        "namespaces": list(one.namespaces),
        "requires": list(_requirements(one.requirements)),
        "place": one.place,
    }


def _lines(found: tuple[Rule, ...]) -> Iterator[str]:
    for one in found:
        yield f"{safe(one.name)}  {', '.join(map(safe, one.namespaces))}"
        yield f"  requires {', '.join(_requirements(one.requirements))}"
    yield f"{len(found)} rule{'s' * (len(found) != 1)}, valid"


def _requirements(one: Requirements) -> Iterator[str]:
    if one.owner:
        yield "an owner"
    if one.contract:
        yield "a contract that holds"
    if one.lineage is not None:
        yield f"the sources of {100 * float(one.lineage):g} % of the columns upstream"
    if one.objectives is not None:
        yield f"objectives met for {one.objectives} days"
    if one.checks:
        yield "checks that passed"
