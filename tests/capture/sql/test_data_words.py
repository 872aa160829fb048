"""A statement of which there is no tree is `opaque` only if its words name no data."""

import pytest

from whence.capture.sql import read_script
from whence.capture.sql.dialects.dialects import DIALECTS

MOVING = (
    "frobnicate into t from s",
    "create frobnicated table t as values (1)",
    "create rule r as on insert to t do instead frobnicate u from v",
    "alter table t frobnicate partition p from u",
)
QUIET = (
    "grant select on t to ada",
    "create index i on t (a)",
    "analyze t",
    "comment on table t is 'select a from b'",
    "alter table t add constraint f foreign key (a) references z (b) on delete cascade",
)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("text", MOVING)
def test_what_may_move_data_is_failed(dialect: str, text: str) -> None:
    statements = read_script(text, dialect).statements
    assert statements
    assert all(statement.status == "failed" and statement.error for statement in statements)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("text", QUIET)
def test_what_moves_none_is_no_failure_of_ours(dialect: str, text: str) -> None:
    statements = read_script(text, dialect).statements
    assert not any("may move data" in (statement.error or "") for statement in statements)
