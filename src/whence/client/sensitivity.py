"""Sensitivity labels in answers: values."""

from collections.abc import Sequence
from typing import TypedDict

import msgspec

from whence.client.options import Time


class SensitivityOptions(TypedDict, total=False):
    """`down`: where the data of the node goes, instead of what is in it. `tags` mark sensitive columns; by default
    those with words such as pii, phi, financial. `at_least`: the lowest grade to list (influenced, statistic, partial,
    pseudonymous, full). At a time, over at most this number of nodes.
    """

    down: bool
    tags: Sequence[str]
    at_least: str
    as_of: Time | None
    max_nodes: int


class SensitivityLabel(msgspec.Struct, frozen=True, kw_only=True):
    """How much of the sensitive columns of a category a node shows at most (`grade`), and how much for certain.

    `path`: a shortest way from the sensitive column `source` to the node, both included.
    """

    node: str
    category: str
    grade: str
    assumed: bool
    proven: str
    source: str
    path: tuple[str, ...]
