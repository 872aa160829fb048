"""The status of an installation as text."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.text import Text

from whence.cli.output.streams import safe
from whence.query.answers.instants import iso

Json = Mapping[str, Any]

_MEGABYTE = 1_000_000
_OUTCOMES = ("applied", "duplicate", "quarantined")


def standing_lines(status: Json) -> Iterator[Text]:
    """The status (`/api/v2/status`) in a few lines; empty if there is none."""
    if not status:
        return
    received, waiting = status["received"], status["waiting"]
    yield Text()
    yield _line("received", f"{received['records']:,} records{_size(received['bytes'])}")
    lag = f"{waiting['records']:,} records{_size(waiting['bytes'])}, the oldest for {waiting['seconds']:.1f} s"
    yield _line("waiting", lag if waiting["records"] else "nothing")
    for one in status.get("damaged", ()):
        yield _line("damaged", _damage(one), "bold red" if one["state"] == "sealed" else "yellow")
    if status["refused"]:
        yield _line("refused", f"{_counts(status['refused'])} (requests since the API began)", "yellow")
    if (contracts := status.get("contracts")) and contracts["contracts"]:
        yield _contract_line(contracts)
    if (store := status["store"]) is not None:
        yield from _store_lines(store, status["missing"], is_behind=_is_behind(status))


def _contract_line(contracts: Json) -> Text:
    count, violations = contracts["contracts"], contracts["violations"]
    parts = [f"{count:,} data contract{'s' * (count != 1)}"]
    if violated := contracts["violated"]:
        found = f"{violations:,} violation{'s' * (violations != 1)}"
        parts.append(f"{violated:,} violated ({found}: see whence contract list)")
    if unknown := contracts["not_evaluated"]:
        parts.append(f"{unknown:,} not evaluated")
    return _line("contracts", ", ".join(parts), "yellow" if violated else "")


def _is_behind(status: Json) -> bool:
    """Whether the store was counted before the latest of the records that it holds: the server counts now and then."""
    held = sum(status["store"][name] for name in _OUTCOMES)
    passed = status["received"]["records"] - status["waiting"]["records"]
    return not status.get("damaged") and not status["missing"] and int(held) < int(passed)


def _store_lines(store: Json, missing: int, *, is_behind: bool) -> Iterator[Text]:
    counts = ", ".join(f"{store[name]:,} {name}" for name in _OUTCOMES)
    behind = " (counted before the latest events)" if is_behind else ""
    yield _line("store", f"{counts}{_size(store['bytes'])}{behind}")
    if missing:
        yield _line(
            "missing",
            f"{missing:,} records that the pipeline passed are in no ledger: see whence ledger --lost",
            "bold red",
        )
    if store["quarantined_by_reason"]:
        yield _line("refusals", _counts(store["quarantined_by_reason"]), "yellow")
    silent = f"{store['runs_without_end']:,} began, and are silent for a day"
    yield _line("runs", f"{store['runs_without_start']:,} reported no start, {silent}")
    yield from _sql_lines(store["sql"])
    for one in store["producers"]:
        seen = iso(int(one["last_seen"]) * 1_000_000)
        name = safe(f"{one['producer']} {one['version']}".rstrip())
        yield _line("producer", f"{name:44} {one['events']:>12,} events, the latest of {seen}")
        if one["restricted"]:
            yield _line(
                "", f"{one['restricted']:,} of them assert what their sender may not: {safe(one['example'])}", "yellow"
            )


def _damage(one: Json) -> str:
    what = "lost for good" if one["state"] == "lost" else "see whence log repair"
    return f"the log from {one['from']} to {one['to']}, at least {one['records']:,} records: {what}"


def _sql_lines(sql: Json) -> Iterator[Text]:
    """The jobs whose producers and SQL report different columns; empty if nothing was compared."""
    if not sql["jobs_compared"]:
        return
    counted = f"{sql['jobs_disagreeing']:,} of {sql['jobs_compared']:,} jobs report other columns than their SQL has"
    yield _line("sql", counted, "yellow" if sql["jobs_disagreeing"] else "")
    for one in sql["worst"]:
        missing = f"{one['missing_in_report']:,} missing in the report, {one['missing_in_parse']:,} in the SQL"
        yield _line("", f"{safe(one['job'])}: {missing}")


def _line(name: str, text: str, style: str = "") -> Text:
    return Text.assemble((f"{name:10}", "bold"), (text, style))


def _counts(counts: Json) -> str:
    return ", ".join(f"{count:,} {safe(name)}" for name, count in counts.items())


def _size(size: int | None) -> str:
    """A size in kilobytes or megabytes, after a comma; empty if it is not known."""
    if size is None:
        return ""
    return f", {size / 1e6:,.1f} MB" if size >= _MEGABYTE else f", {size / 1e3:,.1f} kB"
