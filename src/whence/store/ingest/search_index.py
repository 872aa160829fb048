"""The search index: the words in names and in facets. Derived, and never merged.

Names never change, so they are indexed in the transaction that adds them; the words of a facet are replaced with its
payload. A row depends only on a name or a payload, so order and repetition cannot matter.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import BigInteger, Connection, Index, Select, SmallInteger, Table, Text, delete, select, tuple_

from whence.model.catalog import REGISTRY
from whence.model.ids import Kind, hash64, kind_of, netstrings
from whence.model.search_words import split_words, trigrams
from whence.store.ingest.facet_words import FACETS, words_of_facet
from whence.store.schema.array_parameters import given, giving, integers, texts
from whence.store.schema.columns import COMPACT, Id, beginning, plain_column
from whence.store.schema.merge import Row, insert_new
from whence.store.schema.tables import dataset, facet_body, field, job, metadata

Exact = Text().with_variant(Text(collation="C"), "postgresql")
"""A text that sorts by its bytes, so that words with one prefix are neighbours."""

LARGEST = 32_767

word = Table("word", metadata, plain_column("word", Exact, primary_key=True), **COMPACT)
"""Every word."""

word_gram = Table(
    "word_gram",
    metadata,
    plain_column("gram", Exact, primary_key=True),
    plain_column("word", Exact, primary_key=True),
    **COMPACT,
)
"""By trigram, the words that contain it."""

word_name = Table(
    "word_name",
    metadata,
    plain_column("word", Exact, primary_key=True),
    plain_column("kind", SmallInteger, primary_key=True),
    plain_column("size", SmallInteger, primary_key=True),  # characters of the name: short ones are found first
    plain_column("id", BigInteger, primary_key=True),  # a dataset, a job, or a name that fields have (`field_name`)
    **COMPACT,
)
"""By word, the names that contain it."""

field_name = Table(
    "field_name",
    metadata,
    plain_column("id", Id, primary_key=True),
    plain_column("name", Text),
)
"""Names of fields, each once: many fields share a name."""

facet_word = Table(
    "facet_word",
    metadata,
    plain_column("word", Exact, primary_key=True),
    plain_column("facet", SmallInteger, primary_key=True),  # place in `facet_words.FACETS`
    plain_column("id", BigInteger, primary_key=True),  # a dataset, field or job
    plain_column("subject_id", BigInteger),  # the dataset or job whose facet says it
    Index("facet_word_subject", "subject_id", "facet"),
    **COMPACT,
)
"""By word, the things of which it is said: tags, owners, descriptions."""

Index("field_named", beginning(field.c.name), field.c.dataset_id)

INDEX: tuple[Table, ...] = (word, word_gram, word_name, field_name, facet_word)


@dataclass(frozen=True, slots=True)
class IndexedName:
    """A name to index: a dataset, a job, or all fields of one name."""

    id: int
    name: str


def field_name_id(name: str) -> int:
    """The id of a name of fields."""
    return hash64(netstrings(("N", name))) & ~3 | Kind.FIELD


def missing_names(connection: Connection, names: Iterable[Row], fields: Iterable[Row]) -> Sequence[IndexedName]:
    """The new names that the index lacks. `names`: rows of `dataset` and `job`; `fields`: rows of `field`."""
    shown = {row[0]: row[2] for row in names if row[1] != REGISTRY}
    known = {id_ for table in (dataset, job) for id_ in _known(connection, table, shown)}
    labels = {field_name_id(name): name for name in {row[2] for row in fields}}
    known |= _known(connection, field_name, labels)
    return [IndexedName(id_, name) for id_, name in sorted((shown | labels).items()) if id_ not in known]


def index_names(connection: Connection, names: Sequence[IndexedName]) -> None:
    """Add names to the index. Known names change nothing."""
    if not names:
        return
    of = [(name, split_words(name.name)) for name in names]
    _add_words(connection, {each for _, several in of for each in several})
    rows = {(each, kind_of(one.id), min(len(one.name), LARGEST), one.id) for one, some in of for each in some}
    insert_new(connection, word_name, sorted(rows))
    insert_new(connection, field_name, [(name.id, name.name) for name in names if kind_of(name.id) is Kind.FIELD])


def index_facet_words(connection: Connection, bodies: Iterable[Row]) -> None:
    """Replace the words of facets. `bodies`: rows of `facet_body`."""
    changed = [(subject, FACETS.index(name), payload) for subject, name, _, payload in bodies if name in FACETS]
    if not changed:
        return
    names = _names_of(connection, {subject for subject, _, _ in changed})
    rows = {
        (each, place, id_, subject)
        for subject, place, payload in changed
        if subject in names
        for id_, each in words_of_facet(names[subject], subject, FACETS[place], payload)
    }
    gone = integers(connection, ("subject", "facet"), sorted({(subject, place) for subject, place, _ in changed}))
    key = tuple_(facet_word.c.subject_id, facet_word.c.facet)
    connection.execute(delete(facet_word).where(key.in_(select(gone.c.subject, gone.c.facet))))
    insert_new(connection, facet_word, sorted(rows))


def index_all(connection: Connection, chunk: int = 10_000) -> None:
    """Rebuild the whole index from the tables."""
    for table in INDEX:
        connection.execute(delete(table))
    for named in (dataset, job):
        for rows in _chunks(connection, named, chunk):
            index_names(connection, [IndexedName(row.id, row.name) for row in rows if row.namespace != REGISTRY])
    known: set[str] = set()
    for rows in _chunks(connection, field, chunk):
        new = {row.name for row in rows} - known
        known |= new
        index_names(connection, [IndexedName(field_name_id(name), name) for name in sorted(new)])
    for rows in _chunks(connection, facet_body, chunk):
        index_facet_words(connection, [tuple(row) for row in rows])


def _chunks(connection: Connection, table: Table, size: int) -> Iterator[Sequence[Any]]:
    key = tuple(table.primary_key.columns)
    last: tuple[Any, ...] | None = None
    while True:
        query = select(table).order_by(*key).limit(size)
        rows = connection.execute(query if last is None else query.where(tuple_(*key) > last)).all()
        if not rows:
            return
        yield rows
        last = tuple(getattr(rows[-1], column.name) for column in key)


def _known(connection: Connection, table: Table, ids: Iterable[int]) -> set[int]:
    dialect = connection.dialect.name
    wanted = giving(dialect, ("id",), [(id_,) for id_ in sorted(ids)])
    return set(connection.execute(_select_known(dialect, table), wanted).scalars())


@cache
def _select_known(dialect: str, table: Table) -> Select[int]:
    wanted = given(dialect, "id")
    return select(table.c.id).join(wanted, wanted.c.id == table.c.id)


def _add_words(connection: Connection, words: set[str]) -> None:
    listed = texts(connection, sorted(words))
    known = set(connection.execute(select(word.c.word).join(listed, listed.c.value == word.c.word)).scalars())
    new = sorted(words - known)
    insert_new(connection, word, [(each,) for each in new])
    insert_new(connection, word_gram, sorted({(gram, each) for each in new for gram in trigrams(each)}))


def _names_of(connection: Connection, ids: Iterable[int]) -> dict[int, tuple[str, str]]:
    wanted = integers(connection, ("id",), [(id_,) for id_ in sorted(ids)])
    found: dict[int, tuple[str, str]] = {}
    for table in (dataset, job):
        query = select(table.c.id, table.c.namespace, table.c.name).join(wanted, wanted.c.id == table.c.id)
        found |= {row.id: (row.namespace, row.name) for row in connection.execute(query) if row.namespace != REGISTRY}
    return found
