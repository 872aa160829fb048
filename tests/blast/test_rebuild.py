"""A rebuild begins without blast radii: their graph is another one's. Counting goes on as on a new store."""

from sqlalchemy import Engine

from whence.store.graph.blast_radius import Generation, begin, publish, read_current, write_rows
from whence.store.lifecycle.replace import replace_store


def test_a_rebuild_begins_without_it(store: Engine) -> None:
    _count(store)
    with replace_store(store.url.render_as_string(hide_password=False)):
        pass
    assert read_current(store) is None
    _count(store)


def _count(store: Engine) -> None:
    number = begin(store)
    assert number == 1
    write_rows(store, number, [(8, 1, 0, 0, 0, 0, 0)])
    publish(store, Generation(number, "log=10", 1_000, 0.1, "graph"), rows=1)
