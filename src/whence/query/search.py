"""Search: datasets, fields and jobs by what their names contain."""

from dataclasses import dataclass

from whence.model.ids import Kind
from whence.model.names import FieldName, JobName, Node
from whence.query.ports import Names

_KINDS = (Kind.DATASET, Kind.FIELD, Kind.JOB)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search found, best first. `complete`: there is no more."""

    text: str
    names: tuple[Node, ...]
    complete: bool


def search(names: Names, text: str, limit: int = 50) -> Found:
    """Names that contain the words of `text` in their order, whatever their case.

    A name that is, or ends with, the text comes first, then the shorter ones. A word with
    dots is looked for across a field's dataset and name: `daily_revenue.total`.
    """
    words = text.split()
    kinds = _KINDS if words else ()
    hits = [hit.name for kind in kinds for hit in names.search(_fragments(kind, words), kind, limit + 1)]
    ranked = sorted(hits, key=lambda name: _rank(name, text.strip().casefold()))
    return Found(text=text, names=tuple(ranked[:limit]), complete=len(ranked) <= limit)


def _fragments(kind: Kind, words: list[str]) -> list[str]:
    return [part for word in words for part in word.split(".") if part] if kind is Kind.FIELD else words


def _rank(name: Node, text: str) -> tuple[bool, bool, int, str]:
    own = (name.field if isinstance(name, FieldName) else name.name).casefold()
    ends = own == text or own.endswith((f"/{text}", f".{text}"))
    return (not ends, isinstance(name, JobName), len(own), str(name))
