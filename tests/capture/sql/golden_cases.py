"""The golden suite of the SQL reader: its files read into cases, and what the reader says compared with them.

tests/capture/sql/golden/README.md has the format and what the expectations follow.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from whence.capture.sql import Catalog, ScriptLineage, read_script

FOLDER = Path(__file__).parent / "golden"
_ARROWS = {
    "<=": ("DIRECT", {"identity", "transformation", "aggregation"}),
    "<-": ("INDIRECT", {"filter", "join", "group_by", "sort", "window", "conditional"}),
}
_SETS = ("reads", "writes", "unknown")
_QUOTED = r'"(?:[^"]|"")+"'
_NAME = rf'(?:{_QUOTED}|[^\s,"])+'
_CLAIM = re.compile(rf"({_NAME}) (<=|<-) ({_NAME}(?:, {_NAME})*) (\w+)( masked)?")
_TABLE = re.compile(rf"\s*({_NAME})\((.*)\)\s*", re.DOTALL)


class GoldenError(ValueError):
    """A golden file that cannot be read; says where."""

    def __init__(self, path: Path, line: int, what: str) -> None:
        super().__init__(f"{path}:{line}: {what}")
        self.path, self.line = path, line


class Claim(NamedTuple):
    """An edge as the files write it; names are dotted, without quotes."""

    target: str
    source: str
    type: str
    subtype: str
    masked: bool = False

    def __str__(self) -> str:
        arrow = "<=" if self.type == "DIRECT" else "<-"
        return f"{self.target} {arrow} {self.source} {self.subtype.lower()}{' masked' * self.masked}"


@dataclass(frozen=True, slots=True)
class Case:
    """One statement or script with all that is to be said of it. A set that is None is not judged."""

    path: Path
    line: int
    name: str
    columns: Mapping[str, tuple[str, ...]]
    sql: str
    claims: frozenset[Claim]
    reads: frozenset[str] | None
    writes: frozenset[str] | None
    unknown: frozenset[str] | None

    @property
    def dialect(self) -> str:
        return self.path.parent.name

    @property
    def construct(self) -> str:
        return self.path.stem

    @property
    def id(self) -> str:
        return f"{self.dialect}/{self.construct}::{self.name}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was expected and what was said, edges and the sets that are judged, each as one line of text."""

    expected: frozenset[str]
    found: frozenset[str]
    admits: bool = False
    """The reader reports a failure or a known unknown, so whoever reads the answer is warned."""

    @property
    def exact(self) -> bool:
        return self.expected == self.found

    @property
    def silent(self) -> bool:
        """Wrong, and nothing warns of it."""
        return not self.exact and not self.admits

    def __str__(self) -> str:
        missing = (f"  missing  {line}" for line in sorted(self.expected - self.found))
        extra = (f"  extra    {line}" for line in sorted(self.found - self.expected))
        return "\n".join((*missing, *extra))


def golden_cases(folder: Path = FOLDER) -> tuple[Case, ...]:
    """All cases, in the order of their files. Raises GoldenError."""
    cases = tuple(case for path in sorted(folder.glob("*/*.txt")) for case in _cases_of(path))
    seen: dict[str, Case] = {}
    for case in cases:
        if case.id in seen:
            raise GoldenError(case.path, case.line, f"the name is taken in line {seen[case.id].line}")
        seen[case.id] = case
    return cases


def open_cases(path: Path = FOLDER / "open.txt") -> dict[str, str]:
    """The cases that are known to fail, by id, each with its reason. Raises GoldenError."""
    found = {}
    for number, line in _lines(path.read_text("utf-8")):
        case, _, reason = line.partition(" | ")
        if not reason:
            raise GoldenError(path, number, "no reason: write `<dialect>/<construct>::<case> | <reason>`")
        found[case] = reason
    return found


def judge(case: Case) -> Verdict:
    """Read the case's statements and compare."""
    catalog = Catalog.from_columns(case.columns, case.dialect) if case.columns else None
    lineage = read_script(case.sql, case.dialect, catalog)
    expected, found = {str(claim) for claim in case.claims}, {str(claim) for claim in claims_of(lineage)}
    for name in _SETS:
        if (wanted := getattr(case, name)) is not None:
            expected |= {f"{name}: {one}" for one in wanted}
            found |= {f"{name}: {one}" for one in _set_of(lineage, name)}
    return Verdict(frozenset(expected), frozenset(found), admits(lineage))


def admits(lineage: ScriptLineage) -> bool:
    """Whether a statement is reported as failed or partial, or has a known unknown."""
    return any(statement.status in ("failed", "partial") or statement.unknowns for statement in lineage)


def claims_of(lineage: ScriptLineage) -> Iterator[Claim]:
    """The collapsed edges of a script as claims."""
    for edge in lineage.collapsed:
        masked = edge.masking and edge.type == "DIRECT"
        yield Claim(str(edge.target), str(edge.source), edge.type, edge.subtype, masked)


def _set_of(lineage: ScriptLineage, name: str) -> set[str]:
    match name:
        case "reads":
            return {str(table) for statement in lineage for table in statement.reads}
        case "writes":
            return {str(table) for statement in lineage for table in statement.writes}
        case _:
            return {f"{unknown.reason} {unknown.name}" for statement in lineage for unknown in statement.unknowns}


def _cases_of(path: Path) -> Iterator[Case]:
    parts = re.split(r"^== ", path.read_text("utf-8"), flags=re.MULTILINE)
    line = 1 + parts[0].count("\n")
    for part in parts[1:]:
        yield _case(path, line, part)
        line += part.count("\n")


def _case(path: Path, line: int, text: str) -> Case:
    sections = re.split(r"^---\n", text, flags=re.MULTILINE)
    if len(sections) != 3:
        raise GoldenError(path, line, f"{len(sections)} parts; name and schema, SQL, expectation are 3")
    head, sql, tail = sections
    name, _, schema = head.partition("\n")
    if not name.strip() or set(name) & {"|", ":"}:
        raise GoldenError(path, line, "a case needs a name, without | and :")
    claims, sets = _expectation(path, line + head.count("\n") + sql.count("\n") + 2, tail)
    columns = _columns(path, line + 1, schema)
    return Case(path, line, name.strip(), columns, sql.strip(), claims, *(sets.get(key) for key in _SETS))


def _columns(path: Path, first: int, text: str) -> dict[str, tuple[str, ...]]:
    columns = {}
    for number, line in _lines(text, first):
        key, _, tables = line.partition(":")
        if key != "schema":
            raise GoldenError(path, number, f"{key!r} where `schema:` or a comment may stand")
        for table in () if tables.strip() == "none" else filter(str.strip, tables.split(";")):
            if not (found := _TABLE.fullmatch(table)):
                raise GoldenError(path, number, f"{table.strip()!r} is not `table(column, ...)`")
            columns[found[1]] = tuple(map(str.strip, found[2].split(",")))
    return columns


def _expectation(path: Path, first: int, text: str) -> tuple[frozenset[Claim], dict[str, frozenset[str]]]:
    claims: set[Claim] = set()
    sets: dict[str, frozenset[str]] = {}
    for number, line in _lines(text, first):
        key, colon, rest = line.partition(": ")
        if colon and key in _SETS:
            named = frozenset(_unquoted(part.strip()) for part in rest.split(",")) - {"none"}
            sets[key] = sets.get(key, frozenset()) | named
            continue
        new = _claims(path, number, line)
        if twice := claims & new:
            raise GoldenError(path, number, f"twice: {min(twice)}")
        claims |= new
    if not claims and not sets:
        raise GoldenError(path, first, "expects nothing: write `writes:` or `reads:` at least")
    return frozenset(claims), sets


def _claims(path: Path, number: int, line: str) -> set[Claim]:
    if not (found := _CLAIM.fullmatch(line)):
        raise GoldenError(path, number, f"{line!r} is no edge")
    target, arrow, sources, subtype, masked = found.groups()
    type_, subtypes = _ARROWS[arrow]
    if subtype not in subtypes or (masked and type_ == "INDIRECT"):
        raise GoldenError(path, number, f"{subtype}{masked or ''} does not go with {arrow}")
    names = map(_unquoted, re.findall(_NAME, sources))
    return {Claim(_unquoted(target), name, type_, subtype.upper(), bool(masked)) for name in names}


def _unquoted(name: str) -> str:
    """A name as the reader gives it: `""` in quotes is one."""
    return re.sub(_QUOTED, lambda found: found[0][1:-1].replace('""', '"'), name)


def _lines(text: str, first: int = 1) -> Iterable[tuple[int, str]]:
    """The lines that say something, numbered."""
    numbered = enumerate(map(str.strip, text.splitlines()), first)
    return ((number, line) for number, line in numbered if line and not line.startswith("#"))
