"""What the readers of the syntax tree share."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from whence.capture.sql.dialects.functions import words
from whence.capture.sql.provenance.formulas import Formula
from whence.capture.sql.queries.scopes import Scope
from whence.capture.sql.syntax import tree

if TYPE_CHECKING:
    from whence.capture.sql.fingerprint.expressions import Expressions


Rule = Callable[["Expressions", Scope, tree.Node], Formula]
"""How one class of the parser is read."""
HIVE_FAMILY: Final = frozenset({"spark", "databricks", "hive"})
_VOLATILE: Final = words(
    "rand randn random uuid newid gen_random_uuid uuid_string generate_uuid generateuuidv4 nextval rand64 "
    "randcanonical setseed random_uuid uniform randstr seq1 seq2 seq4 seq8 uuid_generate_v4 clock_timestamp sys_guid "
    "dbms_random "
    "monotonically_increasing_id spark_partition_id input_file_name txid_current newsequentialid gen_random_bytes"
)
"""Functions whose value is another one each time, so equal texts do not imply equal values."""


def is_volatile(name: str) -> bool:
    return name.lower() in _VOLATILE


def given(node: tree.Node) -> Iterator[str]:
    return (name for name, value in node.args.items() if value)


def _inside(e: "Expressions", scope: Scope, node: tree.Node) -> Formula:
    return e.inside(scope, node)


RULES: Final[Mapping[str, Rule]] = {
    "paren": _inside,
    "alias": _inside,
    "where": _inside,
}
