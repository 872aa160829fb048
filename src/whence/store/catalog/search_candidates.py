"""Candidates for a search by words, the likelier first. `query.lookup.search` decides which of them match.

The vocabulary is small, so it is queried first, for words that start with the typed word, contain it, or resemble it.
Then the names of these words are read from the index, the shortest first, word by word, up to a limit.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as field_
from functools import lru_cache
from typing import Any, NamedTuple

from rapidfuzz.distance import OSA
from sqlalchemy import Connection, Select, and_, bindparam, func, literal, select

from whence.model.catalog import SORT_PREFIX_LENGTH
from whence.model.graph import Candidates, Hit, SearchTerms, TextMatch, TextMatches
from whence.model.ids import Kind
from whence.model.names import Node
from whence.model.search_words import inner_trigrams, max_edits, trigrams
from whence.openlineage.facets.steward_tags import TAG_FACETS, TAGS
from whence.store.catalog.listings import list_namespaces
from whence.store.catalog.name_patterns import ESCAPE
from whence.store.ingest.facet_words import FACETS
from whence.store.ingest.search_index import facet_word, field_name, word, word_gram, word_name
from whence.store.schema.array_parameters import given, given_texts, giving, giving_texts, integers, texts
from whence.store.schema.columns import beginning
from whence.store.schema.tables import field

MAX_SCANNED_WORDS = 2_000
"""Vocabulary words read for one typed word, per kind of match."""
MAX_TRIED_WORDS = 64
"""Vocabulary words whose names are read for one typed word."""
MAX_TYPED_WORDS = 8
"""Typed words that are looked up; the rest only filter the results."""
_TAGS = FACETS.index(TAGS)
_TAG_FACETS = frozenset(map(FACETS.index, TAG_FACETS))
MAX_FACETS_OF_WORD = 100_000
"""Facets with one of the words that are searched for the other words."""
MIN_NAMES_READ = 400
"""The least number of names to read for a search of several words."""
MAX_SPELLINGS_OF_PAIR = 4
"""Spellings of each of two words, for names that contain both."""
MAX_NAMES_OF_PAIR = 20_000
"""Names of one word that are searched for another."""
RARE_NAME_COUNT = 50
"""A word in at most this many names is rare enough."""
MAX_OWNERS = 200
"""Datasets whose fields are searched if the words name a dataset and its field."""
_LAST = "\U0010ffff"
_LETTER_FREQUENCY = {letter: place for place, letter in enumerate("zjqxkvbpgwyfmculdhrsinoate_ ")}
"""Letters by their frequency in names, the rarest first; all others are rarer still."""


Spellings = tuple[Sequence[str], bool]
"""The spellings of a typed word, and whether they are complete."""

Names = Callable[[Iterable[int]], Mapping[int, Node]]
"""Reads the names of nodes."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The cached results of the searches of one snapshot."""

    spellings: dict[tuple[str, bool, int], Spellings] = field_(default_factory=dict)
    """By typed word, whether typos count, and the number of names to read."""
    spaces: dict[Kind, Sequence[str]] = field_(default_factory=dict)
    """The namespaces of datasets, and of jobs."""


def find_candidates(
    connection: Connection, names: Names, known: Vocabulary, clue: SearchTerms, kind: Kind, limit: int
) -> Candidates:
    """Nodes of a kind that may match according to the index, about `limit` for each kind of match."""
    # A name with one of several words may lack the others.
    finder = _Finder(connection, known, clue.typos, limit if len(clue.words) == 1 else max(limit, MIN_NAMES_READ))
    ids, complete = finder.fields(clue) if kind is Kind.FIELD else finder.things(clue.words, kind)
    found = names(ids)
    return Candidates([Hit(id_, found[id_]) for id_ in ids if id_ in found], complete)


def find_facet_matches(connection: Connection, names: Names, wanted: Sequence[str], limit: int) -> TextMatches:
    """Nodes with a facet that contains all words, or words that begin with them, by facet."""
    most = max(limit, MAX_SCANNED_WORDS)
    rows, complete = _facets_with_words(
        connection, sorted(wanted[:MAX_TYPED_WORDS], key=lambda one: (-len(one), one)), most
    )
    if len(wanted) > MAX_TYPED_WORDS:
        rows = _filter_facets(connection, rows, wanted)
    found = sorted({(_TAGS if row.facet in _TAG_FACETS else row.facet, row.id) for row in rows})
    named = names({id_ for _, id_ in found})
    return TextMatches([TextMatch(FACETS[place], id_, named[id_]) for place, id_ in found if id_ in named], complete)


def _facets_with_words(connection: Connection, wanted: Sequence[str], most: int) -> tuple[Sequence[Any], bool]:
    """The first facets that contain all words, and whether they are complete. The facets of a rare word are
    searched.
    """
    rows: Sequence[Any] = ()
    for typed_word in wanted:
        others = [other for other in wanted if other != typed_word]
        rows = connection.execute(_facets_query(typed_word, (), most)).all()
        if len(rows) < most:
            return (connection.execute(_facets_query(typed_word, others, most)).all() if others else rows), True
    if len(wanted) < 2:
        return rows, not wanted
    rows = connection.execute(_facets_query(wanted[0], wanted[1:], most)).all()
    one_more = select(literal(1)).where(*_has_prefix(facet_word.c.word, wanted[0])).offset(MAX_FACETS_OF_WORD).limit(1)
    return rows, len(rows) < most and not connection.execute(one_more).first()


def _facets_query(word: str, others: Iterable[str], most: int) -> Select[Any]:
    facets_of_word = select(facet_word).where(*_has_prefix(facet_word.c.word, word))
    first = (
        facets_of_word.order_by(facet_word.c.word, facet_word.c.facet, facet_word.c.id)
        .limit(MAX_FACETS_OF_WORD)
        .subquery()
    )
    query = (
        select(first.c.facet, first.c.id, first.c.subject_id)
        .order_by(first.c.word, first.c.facet, first.c.id)
        .limit(most)
    )
    for other in others:
        other_word = facet_word.alias()
        same = (
            other_word.c.subject_id == first.c.subject_id,
            other_word.c.facet == first.c.facet,
            other_word.c.id == first.c.id,
        )
        query = query.where(select(literal(1)).where(*same, *_has_prefix(other_word.c.word, other)).exists())
    return query


def _filter_facets(connection: Connection, rows: Sequence[Any], wanted: Sequence[str]) -> Sequence[Any]:
    keys = sorted({(row.subject_id, row.facet) for row in rows})
    given = integers(connection, ("subject", "facet"), keys)
    same = and_(facet_word.c.subject_id == given.c.subject, facet_word.c.facet == given.c.facet)
    words_by_facet: dict[tuple[int, int], list[str]] = {}
    for facet, id_, typed_word in connection.execute(
        select(facet_word.c.facet, facet_word.c.id, facet_word.c.word).select_from(given.join(facet_word, same))
    ):
        words_by_facet.setdefault((facet, id_), []).append(typed_word)
    fits = {
        key
        for key, words in words_by_facet.items()
        if all(any(map(_prefix_test(typed_word), words)) for typed_word in wanted)
    }
    return [row for row in rows if (row.facet, row.id) in fits]


def _prefix_test(typed: str) -> Callable[[str], bool]:
    return lambda word: word.startswith(typed)


class _Matches(NamedTuple):
    """Datasets, jobs, fields or names of fields, the likelier first."""

    ids: Sequence[int]
    complete: bool


class _Finder:
    """One search in one store."""

    def __init__(self, connection: Connection, known: Vocabulary, typos: bool, limit: int) -> None:
        self._connection = connection
        self._dialect = connection.dialect.name
        self._known = known
        self._typos = typos
        self._limit = limit

    def things(self, wanted: Sequence[str], kind: Kind) -> _Matches:
        """Nodes whose name contains the rarest word; if all words are common, nodes with two of them."""
        leading = sorted(
            self._leading(wanted[:MAX_TYPED_WORDS], kind), key=lambda typed_word: (-len(typed_word), typed_word)
        )
        best: _Matches | None = None
        for typed_word in leading:
            matches = self._find_by_word(typed_word, kind)
            if matches is not None and (best is None or len(matches.ids) < len(best.ids)):
                best = matches
            if best is not None and len(best.ids) <= RARE_NAME_COUNT:
                break
        if best is not None or not leading:
            return best or _Matches((), True)
        both = self._find_by_pair(leading[0], leading[1], kind) if len(leading) > 1 else ()
        # A word of a namespace may also occur in names.
        rare = [
            matches.ids
            for typed_word in wanted
            if typed_word not in leading and (matches := self._find_by_word(typed_word, kind)) is not None
        ]
        ids = (*min(rare, key=len, default=()), *both, *self._first(leading[0], kind))
        return _Matches(tuple(dict.fromkeys(ids)), False)

    def fields(self, clue: SearchTerms) -> _Matches:
        """Fields whose own names contain the words, and fields of datasets whose names contain the first of them."""
        own = self.things(clue.words, Kind.FIELD)
        ids = dict.fromkeys(self._of_names(own.ids))
        complete = own.complete and len(ids) < self._limit
        for cut in range(1, min(len(clue.parts), MAX_TYPED_WORDS)):
            owners = self.things(SearchTerms(clue.parts[:cut]).words, Kind.DATASET)
            names = self.things(SearchTerms(clue.parts[cut:]).words, Kind.FIELD)
            ids |= dict.fromkeys(self._fields_named(owners.ids[:MAX_OWNERS], names.ids))
            complete = complete and owners.complete and names.complete and len(owners.ids) <= MAX_OWNERS
        return _Matches(tuple(ids), complete)

    def _leading(self, wanted: Sequence[str], kind: Kind) -> Sequence[str]:
        """The words to look up first. Words of a namespace may refer to it, so names are looked up by the other words,
        if any.
        """
        if len(wanted) == 1:
            return wanted
        spaces = self._spaces(Kind.DATASET if kind is Kind.FIELD else kind)
        return [typed_word for typed_word in wanted if not any(typed_word in name for name in spaces)] or wanted

    def _spaces(self, kind: Kind) -> Sequence[str]:
        if kind not in self._known.spaces:
            self._known.spaces[kind] = [name.casefold() for name in list_namespaces(self._connection, kind)]
        return self._known.spaces[kind]

    def _find_by_word(self, typed: str, kind: Kind) -> _Matches | None:
        """All names with a word spelt like the typed one, or None if there are too many."""
        spellings, complete = self._read_spellings(typed)
        values = giving_texts(self._dialect, spellings) | {"kind": int(kind), "most": self._limit + 1}
        rows = self._connection.execute(_names_of_words_query(self._dialect), values).all()
        if len(rows) > self._limit:
            return None
        order = {spelling: place for place, spelling in enumerate(spellings)}
        rows = sorted(rows, key=lambda row: (order[row.word], row.size, row.id))
        return _Matches(tuple(dict.fromkeys(row.id for row in rows)), complete)

    def _first(self, typed: str, kind: Kind) -> Sequence[int]:
        """The first of many names, spelling by spelling."""
        found: dict[int, None] = {}
        for spelling in self._read_spellings(typed)[0]:
            rows = self._connection.execute(
                _names_of_word_query(), {"word": spelling, "kind": int(kind), "most": self._limit}
            )
            found |= dict.fromkeys(rows.scalars())
            if len(found) >= self._limit:
                break
        return list(found)[: self._limit]

    def _find_by_pair(self, one: str, other: str, kind: Kind) -> Sequence[int]:
        """Names with two words, spelling by spelling of the first: the last typed word is usually incomplete."""
        found: dict[int, None] = {}
        spellings, others = (list(self._read_spellings(each)[0][:MAX_SPELLINGS_OF_PAIR]) for each in (one, other))
        given = {"kind": int(kind), "most": self._limit, "others": others, "read": MAX_NAMES_OF_PAIR // len(spellings)}
        for spelling in spellings:
            found |= dict.fromkeys(
                self._connection.execute(_names_of_pair_query(), given | {"word": spelling}).scalars()
            )
            if len(found) >= self._limit:
                break
        return list(found)

    def _read_spellings(self, typed: str) -> Spellings:
        key = (typed, self._typos, self._limit)
        if key not in self._known.spellings:
            within = self._containing(typed)
            begin = self._beginning(typed) if len(typed) < 3 or len(within) >= self._scanned else ()
            ways = ([*begin, *(one for one in within if one.startswith(typed))], within, self._similar_words(typed))
            several = [each for way in ways for each in sorted(way, key=lambda one: (len(one), one))]
            known = tuple(dict.fromkeys((typed, *several)))
            most = MAX_TRIED_WORDS * max(1, self._limit // 1_000)
            cut = len(known) > most or any(len(way) >= self._scanned for way in ways)
            self._known.spellings[key] = known[:most], not cut
        return self._known.spellings[key]

    @property
    def _scanned(self) -> int:
        return max(MAX_SCANNED_WORDS, self._limit)

    def _beginning(self, typed: str) -> Sequence[str]:
        query = select(word.c.word).where(*_has_prefix(word.c.word, typed)).order_by(word.c.word).limit(self._scanned)
        return self._connection.execute(query).scalars().all()

    def _containing(self, typed: str) -> Sequence[str]:
        parts = inner_trigrams(typed)
        if not parts:
            return ()
        rarest = min(parts, key=lambda gram: (sum(_LETTER_FREQUENCY.get(letter, -1) for letter in gram), gram))
        within = "".join(ESCAPE + letter if letter in ("%", "_", ESCAPE) else letter for letter in typed)
        values = {"gram": rarest, "within": f"%{within}%", "most": self._scanned}
        return self._connection.execute(_words_containing_query(), values).scalars().all()

    def _similar_words(self, typed: str) -> Sequence[str]:
        grams, allowed = trigrams(typed), max_edits(typed)
        if not (self._typos and allowed):
            return ()
        given = texts(self._connection, sorted(grams))
        shared = func.count()
        query = (
            select(word_gram.c.word)
            .join(given, given.c.value == word_gram.c.gram)
            .group_by(word_gram.c.word)
            .having(shared >= len(grams) - 4 * allowed)
        )
        found = self._connection.execute(query).scalars()
        return [candidate for candidate in found if OSA.distance(typed, candidate, score_cutoff=allowed) <= allowed]

    def _of_names(self, ids: Iterable[int]) -> Sequence[int]:
        """The fields with these names, name by name."""
        found: list[int] = []
        texts_of = dict(self._labels(ids))
        for id_ in ids:
            if len(found) >= self._limit:
                break
            given = {"begins": texts_of[id_][:SORT_PREFIX_LENGTH], "most": self._limit - len(found)}
            rows = self._connection.execute(_fields_of_name_query(), given).all()
            found += [id_of for id_of, name in rows if name == texts_of[id_]]
        return found

    def _fields_named(self, owners: Sequence[int], names: Iterable[int]) -> Sequence[int]:
        given = integers(self._connection, ("id",), [(id_,) for id_ in owners])
        wanted = texts(self._connection, sorted(name for _, name in self._labels(names)))
        query = select(field.c.id).join(given, given.c.id == field.c.dataset_id)
        named = field.c.name.in_(select(wanted.c.value))
        return self._connection.execute(query.where(named).order_by(field.c.id)).scalars().all()

    def _labels(self, ids: Iterable[int]) -> Sequence[Any]:
        """Ids of names, with the names."""
        wanted = giving(self._dialect, ("id",), [(id_,) for id_ in ids])
        return self._connection.execute(_labels_query(self._dialect), wanted).all()


def _has_prefix(column: Any, typed: str) -> tuple[Any, Any]:
    return column >= typed, column < typed + _LAST


@lru_cache
def _names_of_words_query(dialect: str) -> Select[Any]:
    wanted = select(given_texts(dialect).c.value)
    has = (word_name.c.word.in_(wanted), word_name.c.kind == bindparam("kind"))
    return select(word_name.c.word, word_name.c.size, word_name.c.id).where(*has).limit(bindparam("most"))


@lru_cache
def _words_containing_query() -> Select[Any]:
    has = (word_gram.c.gram == bindparam("gram"), word_gram.c.word.like(bindparam("within"), escape=ESCAPE))
    return select(word_gram.c.word).where(*has).order_by(word_gram.c.word).limit(bindparam("most"))


@lru_cache
def _labels_query(dialect: str) -> Select[Any]:
    wanted = select(given(dialect, "id").c.id)
    return select(field_name.c.id, field_name.c.name).where(field_name.c.id.in_(wanted))


@lru_cache
def _names_of_word_query() -> Select[Any]:
    query = select(word_name.c.id).where(word_name.c.word == bindparam("word"), word_name.c.kind == bindparam("kind"))
    return query.order_by(word_name.c.size, word_name.c.id).limit(bindparam("most"))


@lru_cache
def _names_of_pair_query() -> Select[Any]:
    """Of the first names with one word, those that also contain one of some others."""
    key = (word_name.c.kind, word_name.c.size, word_name.c.id)
    first = select(*key).where(word_name.c.word == bindparam("word"), word_name.c.kind == bindparam("kind"))
    one = first.order_by(word_name.c.size, word_name.c.id).limit(bindparam("read")).subquery()
    other = word_name.alias()
    same = (other.c.kind == one.c.kind, other.c.size == one.c.size, other.c.id == one.c.id)
    has = select(literal(1)).where(other.c.word.in_(bindparam("others", expanding=True)), *same).exists()
    return select(one.c.id).where(has).order_by(one.c.size, one.c.id).limit(bindparam("most"))


@lru_cache
def _fields_of_name_query() -> Select[Any]:
    # Compares the prefix only: given the whole name, SQLite substitutes it for the indexed expression, and scans.
    query = select(field.c.id, field.c.name).where(beginning(field.c.name) == bindparam("begins"))
    return query.order_by(beginning(field.c.name), field.c.dataset_id).limit(bindparam("most"))
