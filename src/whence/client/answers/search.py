"""The answer of a search."""

from typing import ClassVar

from whence.client.answers.answer import Answer, count_rows
from whence.client.values.sensitivity import FoundNode


class Found(Answer, frozen=True, kw_only=True):
    """The results of a search, the best first. `complete`: there are no others. `not_labelled`: how many more columns
    may have the labels that it asked for, because of what is not known.
    """

    _rows: ClassVar[str] = "nodes"
    _columns: ClassVar[tuple[str, ...]] = ("node", "kind", "by", "labels", "standings")

    text: str
    complete: bool
    not_labelled: int = 0
    nodes: tuple[FoundNode, ...]

    def _title(self) -> str:
        return f"{count_rows(self.nodes, 'node')} for {self.text!r}{'' if self.complete else ', and more'}"
