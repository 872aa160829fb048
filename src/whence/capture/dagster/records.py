"""The records of a poll, in Dagster's own JSON: a run with its event log, or asset events that no run made."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from whence.openlineage.json.wire import Json

Key = tuple[str, ...]
"""An asset key, by its parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """What Dagster knows of an asset: its definition, empty if no code location has it, and an event of its past.

    `event` is the last materialization before the record's own; empty if there is none.
    """

    definition: Json = field(default_factory=dict)
    event: Json = field(default_factory=dict)


NO_ASSET = Asset()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """A run, the events of its log that matter, and the assets that these name.

    `gaps` has a sentence for what could not be read of it, by what that is.
    """

    run: Json
    log: tuple[Json, ...] = ()
    assets: Mapping[Key, Asset] = field(default_factory=dict)
    gaps: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRecord:
    """A materialization or observation that was reported to Dagster from outside: it has no run."""

    event: Json
    assets: Mapping[Key, Asset] = field(default_factory=dict)
    gaps: Mapping[str, str] = field(default_factory=dict)


Record = RunRecord | ReportRecord


def key_of(value: Json | None) -> Key:
    """The key in `{"path": […]}`; empty if there is none."""
    return tuple(str(part) for part in (value or {}).get("path") or ())


def text_of(key: Key) -> str:
    """A key as Dagster writes it: `prod/orders`."""
    return "/".join(key)
