"""The records of a poll: MLflow's own JSON, with what belongs together already beside it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from whence.openlineage.json.wire import Json


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run as `runs/search` returns it, in its experiment.

    `models` are the logged models that it read or wrote, by id; `signatures` those of their `MLmodel` files.
    `parent_experiment` is that of the parent run, empty if the run has none.
    """

    experiment: str
    run: Json
    models: Mapping[str, Json] = field(default_factory=dict)
    signatures: Mapping[str, Json] = field(default_factory=dict)
    parent_experiment: str = ""


@dataclass(frozen=True, slots=True)
class VersionRecord:
    """A registered model version as `model-versions/search` returns it, with the aliases that point to it.

    `at` is when this state of it began, in milliseconds since 1970. `is_deleted`: the server has it no more.
    """

    version: Json
    at: int
    aliases: tuple[str, ...] = ()
    signature: Json = field(default_factory=dict)
    is_deleted: bool = False


Record = RunRecord | VersionRecord


def members(entries: object, key: str = "key", value: str = "value") -> dict[str, str]:
    """MLflow's lists of `{"key": …, "value": …}` as a mapping of texts; the last entry of a key wins."""
    if not isinstance(entries, list):
        return {}
    pairs = ((one.get(key), one.get(value, "")) for one in entries if isinstance(one, dict))
    return {str(name): str(text) for name, text in pairs if name is not None}
