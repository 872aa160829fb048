"""How columns are derived, as digests: equal ones come from the same sources by the same formulas. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from hashlib import sha256

from whence.capture.sql.disclosure.formulas import normalize_formula
from whence.model.ids import netstrings
from whence.model.names import FieldName

Digest = str


@dataclass(frozen=True, slots=True)
class Step:
    """An edge into a column: from which one, and what is done to its values. `formula`: as it was reported."""

    source: FieldName
    type: str
    subtype: str = ""
    masking: bool = False
    formula: str = ""

    @property
    def is_copy(self) -> bool:
        """Whether the value stays as it is."""
        return (self.type, self.subtype, self.masking) == ("DIRECT", "IDENTITY", False)


Steps = Mapping[FieldName, Sequence[Step]]


def digest_columns(steps: Steps) -> Mapping[FieldName, Digest]:
    """The digest of each derived column. A column that is only copied has that of its source, so it does not matter by
    which ways and under which names values come.
    """
    found: dict[FieldName, Digest] = {}
    for column in steps:
        _digest(column, steps, found)
    return {column: found[column] for column in steps}


def _digest(start: FieldName, steps: Steps, found: dict[FieldName, Digest]) -> None:
    """Depth first, without recursion: ways are long. In a circle a column stands for itself."""
    stack, entered = [start], set[FieldName]()
    while stack:
        column = stack[-1]
        missing = [one.source for one in steps.get(column, ()) if one.source not in found]
        if column not in found and column not in entered and missing:
            entered.add(column)
            stack += [one for one in missing if one not in entered]
            continue
        stack.pop()
        if column not in found:
            found[column] = _digest_of(column, steps.get(column, ()), found)


def _digest_of(column: FieldName, steps: Sequence[Step], found: Mapping[FieldName, Digest]) -> Digest:
    if not steps:
        return _hash("source", str(column))
    if len(steps) == 1 and steps[0].is_copy:
        return found.get(steps[0].source) or _hash("source", str(steps[0].source))
    names = {one.source.field.casefold(): _source(one, found) for one in steps}
    return _hash(*sorted(_hash(*_parts(one, names, found)) for one in steps))


def _parts(one: Step, names: Mapping[str, Digest], found: Mapping[FieldName, Digest]) -> Iterable[str]:
    formula = "" if one.is_copy else normalize_formula(one.formula, names)
    return _source(one, found), one.type, one.subtype, str(one.masking), formula


def _source(one: Step, found: Mapping[FieldName, Digest]) -> Digest:
    return found.get(one.source) or _hash("source", str(one.source))


def list_derived(steps: Steps) -> AbstractSet[FieldName]:
    """The columns that are more than a copy of another one, or a copy of one that is. Each way is gone once."""
    known: dict[FieldName, bool] = {}
    for column in steps:
        way: dict[FieldName, None] = {}
        while column not in known and column not in way:
            way[column] = None
            own = steps.get(column, ())
            if len(own) == 1 and own[0].is_copy:
                column = own[0].source
            else:
                known[column] = bool(own)
        known |= dict.fromkeys(way, known.get(column, False))  # a circle of copies is of nothing
    return {column for column in steps if known[column]}


def sources_of(columns: Iterable[FieldName], steps: Steps) -> Iterator[FieldName]:
    """The columns that some come from, and that come from nothing."""
    seen, frontier = set[FieldName](), list(columns)
    while frontier:
        column = frontier.pop()
        if column in seen:
            continue
        seen.add(column)
        own = steps.get(column, ())
        frontier += [one.source for one in own]
        if not own:
            yield column


def _hash(*parts: str) -> Digest:
    return sha256(netstrings(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
