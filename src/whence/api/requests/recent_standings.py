"""Which datasets are certified, canonical or twins: facts of the whole store, at most some minutes old.

They must not appear in answers for who may not see the datasets.
"""

from functools import partial

from sqlalchemy import Engine

from whence.api.http.recent import RecentValue
from whence.govern.rule_states.records import read_current_standings
from whence.govern.twins.reading import ReadTwins, read_twins
from whence.query.lookup.standings import Standings
from whence.store.snapshots.catalog import StoreCatalog, snapshot
from whence.store.snapshots.graph import StoreGraph


def recent_standings(engine: Engine) -> RecentValue[Standings]:
    """The datasets that may be relied on. Search asks for them at each keystroke."""
    return RecentValue(partial(_read_standings, engine))


def recent_twins(engine: Engine) -> RecentValue[ReadTwins]:
    """All groups of twins. Reads the whole graph."""
    return RecentValue(partial(_read_twins, engine))


def _read_standings(engine: Engine) -> Standings:
    with snapshot(engine) as connection:
        catalog = StoreCatalog(connection)
        return read_current_standings(catalog, StoreGraph(connection))


def _read_twins(engine: Engine) -> ReadTwins:
    with snapshot(engine) as connection:
        return read_twins(StoreCatalog(connection), StoreGraph(connection))
