"""Finding names by their words: candidates for a search, the likelier first. `query.search` says which of them fit.

The vocabulary is small, so it is asked first: which words begin with what was typed, have it in them, or are like it.
Then their names are read from the index, the shortest first, word by word, until there are enough.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as field_
from functools import lru_cache
from typing import Any, NamedTuple

from rapidfuzz.distance import OSA
from sqlalchemy import Connection, Select, and_, bindparam, func, literal, select

from whence.model.catalog import PREFIX
from whence.model.graph import Candidates, Clue, Hit, Telling, Tellings
from whence.model.ids import Kind
from whence.model.names import Node
from whence.model.words import edits, grams, inner_grams
from whence.store.arrays import given, given_texts, giving, giving_texts, integers, texts
from whence.store.catalog_names import list_namespaces
from whence.store.graph_search import ESCAPE
from whence.store.tables import beginning, field
from whence.store.told import FACETS
from whence.store.words import field_name, word, word_gram, word_name, word_said

SCANNED = 2_000
"""Words of the vocabulary that are looked at for one typed word, in each way."""
TRIED = 64
"""Words of the vocabulary whose names are read for one typed word."""
TYPED = 8
"""Words of a search that are looked up; the rest only narrows what they find."""
SAID = 100_000
"""Texts that say one word, of which those are looked for that say the others, too."""
READ = 400
"""Names that are read for a search of several words, at least."""
WAYS = 4
"""Spellings of each of two words, of which names are looked for that have both."""
PAIRED = 20_000
"""Names of one word that are looked through for another."""
FEW = 50
"""A word that so few names have is rare enough."""
OWNERS = 200
"""Datasets whose fields are looked through, where words name a dataset and a field of it."""
_LAST = "\U0010ffff"
_COMMON = {letter: place for place, letter in enumerate("zjqxkvbpgwyfmculdhrsinoate_ ")}
"""Letters by how often names have them, the rarest first; others are rarer still."""


Spelt = tuple[Sequence[str], bool]
"""Spellings of a typed word, and whether they are all."""

Names = Callable[[Iterable[int]], Mapping[int, Node]]
"""Reads the names of nodes."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What the searches of one snapshot learned."""

    spellings: dict[tuple[str, bool, int], Spelt] = field_(default_factory=dict)
    """By what was typed, whether typos count, and how many names are read."""
    spaces: dict[Kind, Sequence[str]] = field_(default_factory=dict)
    """Namespaces of datasets, and of jobs."""


def find_candidates(
    connection: Connection, names: Names, known: Vocabulary, clue: Clue, kind: Kind, limit: int
) -> Candidates:
    """Nodes of a kind of whose names the index tells that they may fit, about `limit` of each way to find them."""
    # What has one word of several may not have the others.
    finder = _Finder(connection, known, clue.typos, limit if len(clue.words) == 1 else max(limit, READ))
    ids, complete = finder.fields(clue) if kind is Kind.FIELD else finder.things(clue.words, kind)
    found = names(ids)
    return Candidates([Hit(id_, found[id_]) for id_ in ids if id_ in found], complete)


def find_told(connection: Connection, names: Names, wanted: Sequence[str], limit: int) -> Tellings:
    """Things of which one facet says all words, or words that begin with them, by facet."""
    most = max(limit, SCANNED)
    rows, complete = _said_by(connection, sorted(wanted[:TYPED], key=lambda one: (-len(one), one)), most)
    if len(wanted) > TYPED:
        rows = _saying_all(connection, rows, wanted)
    found = sorted({(row.facet, row.id) for row in rows})
    named = names({id_ for _, id_ in found})
    return Tellings([Telling(FACETS[place], id_, named[id_]) for place, id_ in found if id_ in named], complete)


def _said_by(connection: Connection, wanted: Sequence[str], most: int) -> tuple[Sequence[Any], bool]:
    """The first facets that say all words, and whether there is no other: looked through are those of a rare word."""
    rows: Sequence[Any] = ()
    for each in wanted:
        others = [other for other in wanted if other != each]
        rows = connection.execute(_saying(each, (), most)).all()
        if len(rows) < most:
            return (connection.execute(_saying(each, others, most)).all() if others else rows), True
    if len(wanted) < 2:
        return rows, not wanted
    rows = connection.execute(_saying(wanted[0], wanted[1:], most)).all()
    beyond = select(literal(1)).where(*_begins(word_said.c.word, wanted[0])).offset(SAID).limit(1)
    return rows, len(rows) < most and not connection.execute(beyond).first()


def _saying(word: str, others: Iterable[str], most: int) -> Select[Any]:
    said = select(word_said).where(*_begins(word_said.c.word, word))
    one = said.order_by(word_said.c.word, word_said.c.facet, word_said.c.id).limit(SAID).subquery()
    query = select(one.c.facet, one.c.id, one.c.subject_id).order_by(one.c.word, one.c.facet, one.c.id).limit(most)
    for other in others:
        also = word_said.alias()
        same = (also.c.subject_id == one.c.subject_id, also.c.facet == one.c.facet, also.c.id == one.c.id)
        query = query.where(select(literal(1)).where(*same, *_begins(also.c.word, other)).exists())
    return query


def _saying_all(connection: Connection, rows: Sequence[Any], wanted: Sequence[str]) -> Sequence[Any]:
    keys = sorted({(row.subject_id, row.facet) for row in rows})
    given = integers(connection, ("subject", "facet"), keys)
    same = and_(word_said.c.subject_id == given.c.subject, word_said.c.facet == given.c.facet)
    said: dict[tuple[int, int], list[str]] = {}
    for facet, id_, each in connection.execute(
        select(word_said.c.facet, word_said.c.id, word_said.c.word).select_from(given.join(word_said, same))
    ):
        said.setdefault((facet, id_), []).append(each)
    fits = {key for key, several in said.items() if all(any(map(_begun(each), several)) for each in wanted)}
    return [row for row in rows if (row.facet, row.id) in fits]


def _begun(typed: str) -> Callable[[str], bool]:
    return lambda word: word.startswith(typed)


class _Things(NamedTuple):
    """Datasets, jobs, fields or names of fields, the likelier first."""

    ids: Sequence[int]
    complete: bool


class _Finder:
    """One search, in one kind of store."""

    def __init__(self, connection: Connection, known: Vocabulary, typos: bool, limit: int) -> None:
        self._connection = connection
        self._dialect = connection.dialect.name
        self._known = known
        self._typos = typos
        self._limit = limit

    def things(self, wanted: Sequence[str], kind: Kind) -> _Things:
        """Whose name has the rarest of the words; if all are in many names, those that have two of them."""
        leading = sorted(self._leading(wanted[:TYPED], kind), key=lambda each: (-len(each), each))
        best: _Things | None = None
        for each in leading:
            found = self._every(each, kind)
            if found is not None and (best is None or len(found.ids) < len(best.ids)):
                best = found
            if best is not None and len(best.ids) <= FEW:
                break
        if best is not None or not leading:
            return best or _Things((), True)
        both = self._both(leading[0], leading[1], kind) if len(leading) > 1 else ()
        # A word that a namespace has may be in names, too.
        rare = [found.ids for each in wanted if each not in leading and (found := self._every(each, kind)) is not None]
        ids = (*min(rare, key=len, default=()), *both, *self._first(leading[0], kind))
        return _Things(tuple(dict.fromkeys(ids)), False)

    def fields(self, clue: Clue) -> _Things:
        """Fields whose own names have the words, and those of whose datasets the names have the first of them."""
        own = self.things(clue.words, Kind.FIELD)
        ids = dict.fromkeys(self._of_names(own.ids))
        complete = own.complete and len(ids) < self._limit
        for cut in range(1, min(len(clue.parts), TYPED)):
            owners = self.things(Clue(clue.parts[:cut]).words, Kind.DATASET)
            names = self.things(Clue(clue.parts[cut:]).words, Kind.FIELD)
            ids |= dict.fromkeys(self._within(owners.ids[:OWNERS], names.ids))
            complete = complete and owners.complete and names.complete and len(owners.ids) <= OWNERS
        return _Things(tuple(ids), complete)

    def _leading(self, wanted: Sequence[str], kind: Kind) -> Sequence[str]:
        """Words that a namespace has may be meant of it: names are looked up by the others, if there are any."""
        if len(wanted) == 1:
            return wanted
        spaces = self._spaces(Kind.DATASET if kind is Kind.FIELD else kind)
        return [each for each in wanted if not any(each in name for name in spaces)] or wanted

    def _spaces(self, kind: Kind) -> Sequence[str]:
        if kind not in self._known.spaces:
            self._known.spaces[kind] = [name.casefold() for name in list_namespaces(self._connection, kind)]
        return self._known.spaces[kind]

    def _every(self, typed: str, kind: Kind) -> _Things | None:
        """All that has a word spelt like the typed one; None if that is much."""
        spellings, complete = self._spelt(typed)
        asked = giving_texts(self._dialect, spellings) | {"kind": int(kind), "most": self._limit + 1}
        rows = self._connection.execute(_spelt_so(self._dialect), asked).all()
        if len(rows) > self._limit:
            return None
        order = {each: place for place, each in enumerate(spellings)}
        rows = sorted(rows, key=lambda row: (order[row.word], row.size, row.id))
        return _Things(tuple(dict.fromkeys(row.id for row in rows)), complete)

    def _first(self, typed: str, kind: Kind) -> Sequence[int]:
        """The first of much, spelling by spelling."""
        found: dict[int, None] = {}
        for each in self._spelt(typed)[0]:
            rows = self._connection.execute(_named_so(), {"word": each, "kind": int(kind), "most": self._limit})
            found |= dict.fromkeys(rows.scalars())
            if len(found) >= self._limit:
                break
        return list(found)[: self._limit]

    def _both(self, one: str, other: str, kind: Kind) -> Sequence[int]:
        """Those that have two words, spelling by spelling of the first: whoever types has the last one in part."""
        found: dict[int, None] = {}
        spellings, others = (list(self._spelt(each)[0][:WAYS]) for each in (one, other))
        given = {"kind": int(kind), "most": self._limit, "others": others, "read": PAIRED // len(spellings)}
        for each in spellings:
            found |= dict.fromkeys(self._connection.execute(_named_both(), given | {"word": each}).scalars())
            if len(found) >= self._limit:
                break
        return list(found)

    def _spelt(self, typed: str) -> Spelt:
        key = (typed, self._typos, self._limit)
        if key not in self._known.spellings:
            within = self._containing(typed)
            begin = self._beginning(typed) if len(typed) < 3 or len(within) >= self._scanned else ()
            ways = ([*begin, *(one for one in within if one.startswith(typed))], within, self._alike(typed))
            several = [each for way in ways for each in sorted(way, key=lambda one: (len(one), one))]
            known = tuple(dict.fromkeys((typed, *several)))
            most = TRIED * max(1, self._limit // 1_000)
            cut = len(known) > most or any(len(way) >= self._scanned for way in ways)
            self._known.spellings[key] = known[:most], not cut
        return self._known.spellings[key]

    @property
    def _scanned(self) -> int:
        return max(SCANNED, self._limit)

    def _beginning(self, typed: str) -> Sequence[str]:
        query = select(word.c.word).where(*_begins(word.c.word, typed)).order_by(word.c.word).limit(self._scanned)
        return self._connection.execute(query).scalars().all()

    def _containing(self, typed: str) -> Sequence[str]:
        parts = inner_grams(typed)
        if not parts:
            return ()
        rarest = min(parts, key=lambda gram: (sum(_COMMON.get(letter, -1) for letter in gram), gram))
        within = "".join(ESCAPE + letter if letter in ("%", "_", ESCAPE) else letter for letter in typed)
        asked = {"gram": rarest, "within": f"%{within}%", "most": self._scanned}
        return self._connection.execute(_containing_so(), asked).scalars().all()

    def _alike(self, typed: str) -> Sequence[str]:
        several, allowed = grams(typed), edits(typed)
        if not (self._typos and allowed):
            return ()
        given = texts(self._connection, sorted(several))
        shared = func.count()
        query = (
            select(word_gram.c.word)
            .join(given, given.c.value == word_gram.c.gram)
            .group_by(word_gram.c.word)
            .having(shared >= len(several) - 4 * allowed)
        )
        found = self._connection.execute(query).scalars()
        return [each for each in found if OSA.distance(typed, each, score_cutoff=allowed) <= allowed]

    def _of_names(self, ids: Iterable[int]) -> Sequence[int]:
        """The fields that have these names, name by name."""
        found: list[int] = []
        texts_of = dict(self._labels(ids))
        for id_ in ids:
            if len(found) >= self._limit:
                break
            given = {"begins": texts_of[id_][:PREFIX], "most": self._limit - len(found)}
            rows = self._connection.execute(_fields_named(), given).all()
            found += [id_of for id_of, name in rows if name == texts_of[id_]]
        return found

    def _within(self, owners: Sequence[int], names: Iterable[int]) -> Sequence[int]:
        given = integers(self._connection, ("id",), [(id_,) for id_ in owners])
        wanted = texts(self._connection, sorted(name for _, name in self._labels(names)))
        query = select(field.c.id).join(given, given.c.id == field.c.dataset_id)
        named = field.c.name.in_(select(wanted.c.value))
        return self._connection.execute(query.where(named).order_by(field.c.id)).scalars().all()

    def _labels(self, ids: Iterable[int]) -> Sequence[Any]:
        """Ids of names, and the names."""
        asked = giving(self._dialect, ("id",), [(id_,) for id_ in ids])
        return self._connection.execute(_labels_so(self._dialect), asked).all()


def _begins(column: Any, typed: str) -> tuple[Any, Any]:
    return column >= typed, column < typed + _LAST


@lru_cache
def _spelt_so(dialect: str) -> Select[Any]:
    wanted = select(given_texts(dialect).c.value)
    has = (word_name.c.word.in_(wanted), word_name.c.kind == bindparam("kind"))
    return select(word_name.c.word, word_name.c.size, word_name.c.id).where(*has).limit(bindparam("most"))


@lru_cache
def _containing_so() -> Select[Any]:
    has = (word_gram.c.gram == bindparam("gram"), word_gram.c.word.like(bindparam("within"), escape=ESCAPE))
    return select(word_gram.c.word).where(*has).order_by(word_gram.c.word).limit(bindparam("most"))


@lru_cache
def _labels_so(dialect: str) -> Select[Any]:
    wanted = select(given(dialect, "id").c.id)
    return select(field_name.c.id, field_name.c.name).where(field_name.c.id.in_(wanted))


@lru_cache
def _named_so() -> Select[Any]:
    query = select(word_name.c.id).where(word_name.c.word == bindparam("word"), word_name.c.kind == bindparam("kind"))
    return query.order_by(word_name.c.size, word_name.c.id).limit(bindparam("most"))


@lru_cache
def _named_both() -> Select[Any]:
    """Of the first names that have one word, those that have one of some others, too."""
    key = (word_name.c.kind, word_name.c.size, word_name.c.id)
    first = select(*key).where(word_name.c.word == bindparam("word"), word_name.c.kind == bindparam("kind"))
    one = first.order_by(word_name.c.size, word_name.c.id).limit(bindparam("read")).subquery()
    other = word_name.alias()
    same = (other.c.kind == one.c.kind, other.c.size == one.c.size, other.c.id == one.c.id)
    has = select(literal(1)).where(other.c.word.in_(bindparam("others", expanding=True)), *same).exists()
    return select(one.c.id).where(has).order_by(one.c.size, one.c.id).limit(bindparam("most"))


@lru_cache
def _fields_named() -> Select[Any]:
    # By its beginning alone: SQLite puts a name that is given whole in the place of the indexed one, and scans.
    query = select(field.c.id, field.c.name).where(beginning(field.c.name) == bindparam("begins"))
    return query.order_by(beginning(field.c.name), field.c.dataset_id).limit(bindparam("most"))
