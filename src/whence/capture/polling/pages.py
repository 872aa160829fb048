"""Pages of rows that are ordered by a time, of a server whose rows change while they are read."""

from collections.abc import Callable, Iterator, Sequence

from whence.openlineage.json.wire import Json


def pages_by_time(
    fetch: Callable[[str, int], tuple[list[Json], bool]], *, first: str, time_of: str, key: Sequence[str]
) -> Iterator[Json]:
    """The rows from a time on, in the order of the member `time_of`, each once. `key`: the members that name a row.

    A row may lack its time. `fetch` has the rows from a time on after so many of them, and whether more follow. Each
    page begins at the time of the last row before: by an offset alone a row would be missed when one in front vanishes.
    """
    passed: set[tuple[object, ...]] = set()
    offset, more = 0, True
    while more:
        rows, more = fetch(first, offset)
        named = [(tuple(row[one] for one in key), row) for row in rows]
        yield from (row for name, row in named if name not in passed)
        passed.update(name for name, _ in named)
        last = next((str(row[time_of]) for row in reversed(rows) if row[time_of]), first)
        if last == first:
            offset += len(rows)
        else:
            first, offset = last, 0
            passed = {name for name, row in named if row[time_of] == last}
