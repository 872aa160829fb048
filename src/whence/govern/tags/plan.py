"""Which tags a warehouse should have: those that sensitivity labels ask for, beside those that it has.

Only tags of Whence are set and removed. A tag that was set directly in the warehouse counts more than a label that
came by lineage. What is not known changes nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from whence.govern.tags.known import KnownDataset, KnownLabel
from whence.govern.tags.places import Place, Spellings, TagAt, is_printable, read_spellings
from whence.model.sensitivity import Grade
from whence.query.sensitivity.marks import WRITTEN, categories_in

_GRADES: Mapping[str, Grade] = {one.word: one for one in Grade}


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Change:
    """A tag to set, or to remove if `value` is None. `before`: its value until now; None: it has none."""

    place: Place
    key: str
    value: str | None
    before: str | None = None
    is_view: bool = False


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class LeftOut:
    """A table or column that is not changed, and why."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TagPlan:
    """Changes, and what is left out, both in order. `unchanged`: the number of tags that are as they should be."""

    changes: tuple[Change, ...]
    left_out: tuple[LeftOut, ...]
    unchanged: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TagForm:
    """The tags of a system. `split`: a dataset's name as the parts of a table, or the reason why it has none.

    `tag_of`: key and value of the tag of a label; None if there is none for it. `is_single`: a column has one tag at
    most. `stored`: how the system stores a name that is written without quotes. `requires`: what an export has to name,
    so that a tag can be written there.
    """

    split: Callable[[str], tuple[str, ...] | str]
    tag_of: Callable[[KnownLabel], tuple[str, str] | None]
    is_single: bool = False
    stored: Callable[[str], str] = str
    requires: Literal["", "table", "column"] = ""


def label_tag(label: KnownLabel) -> tuple[str, str]:
    """The tag of a label in most systems: `whence_pii`, its grade as the value."""
    return WRITTEN + label.category, label.grade.word


def plan_tags(
    known: Iterable[KnownDataset],
    current: Sequence[TagAt],
    form: TagForm,
    at_least: Grade,
    places: Iterable[Place] = (),
) -> TagPlan:
    """The changes that give each column the tags of its labels of at least a grade.

    `current`: the tags that the warehouse has; `places`: more of its tables and columns, for their spelling.
    """
    every = {*places, *(one.place for one in current)}
    planning = _Planning(current, form, at_least, frozenset(every), read_spellings(every))
    for one in sorted(known, key=lambda one: one.name):
        planning.plan_dataset(one)
    planning.note_unknown_tables()
    return TagPlan(
        changes=tuple(sorted(planning.changes, key=lambda one: (one.place, one.key))),
        left_out=tuple(sorted(set(planning.left_out))),
        unchanged=planning.unchanged,
    )


_Labels = dict[Place, list[KnownLabel]]
_Wanted = dict[tuple[Place, str], tuple[str, KnownLabel]]


@dataclass(slots=True)
class _Planning:
    current: Sequence[TagAt]
    form: TagForm
    at_least: Grade
    places: frozenset[Place]
    spellings: Spellings
    changes: list[Change] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    unchanged: int = 0
    _ours: dict[tuple[str, ...], dict[tuple[Place, str], str]] = field(init=False, default_factory=dict)
    """The values of the tags of Whence, by table."""
    _direct: dict[Place, list[TagAt]] = field(init=False, default_factory=dict)
    _seen: set[tuple[str, ...]] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        for one in self.current:
            if one.is_ours and not one.inherited:
                self._ours.setdefault(one.place.table, {})[one.place, one.key] = one.value
            elif not one.inherited:
                self._direct.setdefault(one.place, []).append(one)

    def plan_dataset(self, one: KnownDataset) -> None:
        parts = self.form.split(one.name.name)
        if isinstance(parts, str):
            if any(label.grade >= self.at_least for label in one.labels):
                self._leave_out(one.name.name, parts)
            return
        table = self.spellings.table(parts)
        if table in self._seen:
            self._leave_out(str(Place(table)), "another dataset has this name in other letter case")
            return
        self._seen.add(table)
        labels = self._labels_by_place(one, table)
        wanted = self._wanted(labels)
        self._set(wanted, one.is_view)
        known = {self._column(table, column) for column in ("", *one.columns)}
        for (place, key), value in sorted(self._ours.get(table, {}).items()):
            if (place, key) not in wanted:
                self._end(Change(place=place, key=key, value=None, before=value, is_view=one.is_view), labels, known)

    def note_unknown_tables(self) -> None:
        for table in self._ours.keys() - self._seen:
            self._leave_out(str(Place(table)), "it has tags of Whence, but no dataset that you may see is this table")

    def _column(self, table: tuple[str, ...], column: str) -> Place:
        return Place(table, self.spellings.column(table, self.form.stored(column)))

    def _labels_by_place(self, one: KnownDataset, table: tuple[str, ...]) -> _Labels:
        """The labels of columns; those of the dataset itself only if no column is known."""
        found: _Labels = {}
        for label in one.labels:
            if label.column or not one.columns:
                found.setdefault(self._column(table, label.column), []).append(label)
        return found

    def _wanted(self, labels: _Labels) -> _Wanted:
        found: _Wanted = {}
        for place, several in labels.items():
            for label in sorted(several, key=lambda one: (-one.grade, one.category)):
                if label.grade < self.at_least or (tag := self.form.tag_of(label)) is None:
                    continue
                if (direct := self._find_direct(place, label.category)) is not None:
                    self._leave_out(str(place), f"it is tagged directly, with {direct.key}")
                elif not is_printable(place.column):
                    self._leave_out(str(place), "its name has control characters")
                elif not self._is_exported(place):
                    self._leave_out(str(place), f"the export has no such {self.form.requires}")
                else:
                    found.setdefault((place, tag[0]), (tag[1], label))
        return found

    def _is_exported(self, place: Place) -> bool:
        match self.form.requires:
            case "table":
                return Place(place.table) in self.places
            case "column":
                return place in self.places
        return True

    def _find_direct(self, place: Place, category: str) -> TagAt | None:
        """A tag of others that says as much: on a column with one tag at most any of them."""
        several = self._direct.get(place, ())
        fits = (one for one in several if self.form.is_single or category in categories_in(f"{one.key} {one.value}"))
        return next(fits, None)

    def _set(self, wanted: _Wanted, is_view: bool) -> None:
        for (place, key), (value, label) in wanted.items():
            before = self._ours.get(place.table, {}).get((place, key))
            if before == value:
                self.unchanged += 1
            elif label.grade < _GRADES.get(before or "", Grade.NONE) <= label.possible:
                self._leave_out(str(place), f"whether {key} is still {before} is not known")
            else:
                self.changes.append(Change(place=place, key=key, value=value, before=before, is_view=is_view))

    def _end(self, change: Change, labels: _Labels, known: set[Place]) -> None:
        """Remove a tag of Whence, if it is known that it holds no longer."""
        place, key = change.place, change.key
        if place not in known and place not in labels:
            self._leave_out(str(place), f"whether {key} still holds is not known: you see no such column")
            return
        for label in labels.get(place, ()):
            tag = self.form.tag_of(label)
            is_direct = self._find_direct(place, label.category) is not None
            if tag and tag[0] == key and label.possible >= self.at_least and not is_direct:
                self._leave_out(str(place), f"whether {key} still holds is not known")
                return
        self.changes.append(change)

    def _leave_out(self, place: str, reason: str) -> None:
        self.left_out.append(LeftOut(place=place, reason=reason))
