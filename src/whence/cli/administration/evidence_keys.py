"""`whence evidence key`: the keys that sign evidence packs."""

from pathlib import Path

from rich.text import Text

from whence.cli.output.streams import Output, print_document, print_lines
from whence.govern.evidence.signing.key_files import (
    PublishedKey,
    create_key,
    keys_document,
    list_keys,
    rotate_key,
)
from whence.govern.evidence.signing.keys import Algorithm


def show_created(directory: Path, algorithm: str, now: str, output: Output) -> None:
    """Create the key that signs. Raises EvidenceError."""
    _show(create_key(directory, Algorithm(algorithm), now), output)


def show_rotated(directory: Path, algorithm: str | None, now: str, output: Output) -> None:
    """Replace the key that signs. Raises EvidenceError."""
    _show(rotate_key(directory, None if algorithm is None else Algorithm(algorithm), now), output)


def show_keys(directory: Path, output: Output) -> None:
    """List the public keys. Raises EvidenceError."""
    keys = list_keys(directory)
    if output is Output.JSON:
        print_document({"keys": keys_document(keys)})
        return
    print_lines([_line(one) for one in keys] or [Text("No key: packs are not signed.", "dim")])


def _show(key: PublishedKey, output: Output) -> None:
    if output is Output.JSON:
        print_document(keys_document([key])[0])
        return
    print_lines([_line(key), Text(key.pem.rstrip())])


def _line(one: PublishedKey) -> Text:
    until = f"until {one.retired_at}" if one.retired_at else "signs"
    return Text(f"{one.id}  {one.algorithm}  from {one.created_at}, {until}")
