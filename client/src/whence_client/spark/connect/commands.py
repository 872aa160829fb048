"""The commands of a Spark Connect client: what each writes, and the query whose rows it writes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_TEXT = re.compile(r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_WRITES = re.compile(
    r"\s*(?:INSERT|MERGE|UPDATE|DELETE|REPLACE\s+TABLE"
    r"|CREATE\b(?!.*?\bTEMP(?:ORARY)?\s+VIEW\b).*?(?:\bAS\b|\bVIEW\b)|(?:WITH|FROM)\b.*?\bINSERT\b)",
    re.IGNORECASE | re.DOTALL,
)
_READS = re.compile(
    r"\s*(?:SELECT|VALUES|TABLE|SHOW|DESC|DESCRIBE|EXPLAIN|LIST|\(|(?:WITH|FROM)\b(?!.*?\bINSERT\b))",
    re.IGNORECASE | re.DOTALL,
)
_OVERWRITE_MODE = 2
_V2_OVERWRITES = (2, 3, 5, 6)
"""Overwrite, overwrite partitions, replace, create or replace."""

SQL, WRITE, STREAM, CHECKPOINT, MERGE = "sql", "write", "stream", "checkpoint", "merge"


@dataclass(frozen=True)
class Command:
    """A command that is captured. `query` is its relation, or SQL's message; both are Spark Connect's.

    `table` or `path` is what it writes; for SQL, the server's explanation has it. `options` name what is written
    elsewhere: JDBC, Kafka.
    """

    kind: str
    query: Any
    table: str = ""
    path: str = ""
    format: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    overwrites: bool = False
    text: str = ""


def read_command(command: Any) -> Command | None:
    """What a command writes; None if it moves no data."""
    kind = command.WhichOneof("command_type")
    reader = _READERS.get(kind)
    return reader(getattr(command, kind)) if reader else None


def changes_names(command: Any) -> bool:
    """Whether tables or views may have other meanings after a command."""
    kind = command.WhichOneof("command_type")
    return kind == "create_dataframe_view" or (
        kind == "sql_command" and not _READS.match(_plain(sql_message(command.sql_command).query))
    )


def is_function_of_stream(command: Any) -> bool:
    """Whether a command starts a stream whose rows a Python function on the server gets."""
    if command.WhichOneof("command_type") != "write_stream_operation_start":
        return False
    stream = command.write_stream_operation_start
    return bool(stream.HasField("foreach_batch") or stream.HasField("foreach_writer"))


def has_stream_ended(question: Any, answer: Any) -> bool:
    """Whether the answer to a question about a stream means that it has ended."""
    kind = question.WhichOneof("command")
    if kind == "await_termination":
        return not question.await_termination.HasField("timeout_ms") or bool(answer.await_termination.terminated)
    return kind == "stop" or (kind == "status" and not answer.status.is_active)


def sql_message(command: Any) -> Any:
    """The SQL of a command, with its arguments; Spark 3.5 has them in the command itself."""
    if "input" not in command.DESCRIPTOR.fields_by_name or not command.HasField("input"):
        return command
    relation = command.input
    while relation.WhichOneof("rel_type") == "with_relations":
        relation = relation.with_relations.root
    return relation.sql if relation.WhichOneof("rel_type") == "sql" else relation


def find_reads(message: Any) -> Iterator[Any]:
    """The `Read` messages in a relation, in their order."""
    if message.DESCRIPTOR.name == "Read":
        yield message
        return
    for described, value in message.ListFields():
        if described.message_type is None or described.message_type.GetOptions().map_entry:
            continue
        for one in value if _is_repeated(value) else (value,):
            yield from find_reads(one)


def _is_repeated(value: Any) -> bool:
    return not hasattr(value, "DESCRIPTOR")


def _read_sql(command: Any) -> Command | None:
    message = sql_message(command)
    text = getattr(message, "query", "") or getattr(message, "sql", "")
    return Command(SQL, command, text=text) if _WRITES.match(_plain(text)) else None


def _plain(text: str) -> str:
    """A statement without comments, and with nothing in its literals."""
    return _COMMENT.sub(" ", _TEXT.sub("''", text))


def _read_write(write: Any) -> Command:
    table = write.table.table_name if write.WhichOneof("save_type") == "table" else ""
    options = dict(write.options)
    path = write.path or ("" if table else options.get("path", ""))
    return Command(WRITE, write.input, table, path, write.source, options, overwrites=write.mode == _OVERWRITE_MODE)


def _read_write_v2(write: Any) -> Command:
    return Command(
        WRITE, write.input, write.table_name, options=dict(write.options), overwrites=write.mode in _V2_OVERWRITES
    )


def _read_stream(stream: Any) -> Command | None:
    options = dict(stream.options)
    path = stream.path or options.get("path", "")
    if not (path or stream.table_name or "topic" in options):
        return None
    return Command(STREAM, stream.input, stream.table_name, path, stream.format, options)


def _read_merge(merge: Any) -> Command:
    return Command(MERGE, merge.source_table_plan, merge.target_table_name)


def _read_checkpoint(checkpoint: Any) -> Command:
    return Command(CHECKPOINT, checkpoint.relation)


_READERS = {
    "sql_command": _read_sql,
    "write_operation": _read_write,
    "write_operation_v2": _read_write_v2,
    "write_stream_operation_start": _read_stream,
    "checkpoint_command": _read_checkpoint,
    "merge_into_table_command": _read_merge,
}
