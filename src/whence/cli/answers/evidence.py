"""The work of `whence evidence`: make a pack from a store or a server, and verify one."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.text import Text

from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.govern.evidence.archive import read_directory, write_directory
from whence.govern.evidence.statement import ENVELOPE, Files
from whence.govern.evidence.verify import Verification, verify_files


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where the data of this machine's Whence are: URLs of the databases and the log, and the directory of keys."""

    store: str
    log: str
    security: str
    keys: Path


def make_pack_here(places: Places, node: str, at: int, options: dict[str, Any]) -> Files:
    """The pack of a node, from the store, the log and the keys of this machine. Raises StoreError, LogError,
    EvidenceError, and the errors of questions.
    """
    from whence.govern.evidence.pack import Signer, make_pack
    from whence.govern.evidence.raw_events import EventReader
    from whence.govern.evidence.signing.key_files import current_key, list_keys
    from whence.govern.evidence.sources import Sources
    from whence.log.address import open_log
    from whence.query.answers.values import TYPES, Question
    from whence.query.lookup.resolve import resolve
    from whence.store.security.signing import signing_secret
    from whence.store.snapshots.catalog import StoreCatalog
    from whence.store.snapshots.graph import open_graph

    types = options.pop("types")
    question = Question(at=at, types=None if types is None else TYPES[types], **options)
    log = open_log(places.log, partial(signing_secret, places.security))
    signer = Signer(key=current_key(places.keys), published=list_keys(places.keys))
    with open_graph(places.store) as graph, _open_security(places.security) as (secret, read_audit):
        sources = Sources(
            graph=graph,
            catalog=StoreCatalog(graph.connection),
            events=EventReader(read_records=log.read_records, visible_ids=None, secret=secret),
            read_audit=read_audit,
        )
        return make_pack(sources, resolve(graph, node), question, at, signer)


@contextmanager
def _open_security(url: str) -> Iterator[tuple[bytes, Callable[[Sequence[str], int], Sequence[Any]] | None]]:
    """The secret of this installation, and its audit log. Neither, if it runs open: it is not created."""
    from whence.govern.evidence.sources import read_changes
    from whence.store.security.database import has_security, open_security, read_security
    from whence.store.security.policy import read_policy

    if not has_security(url):
        yield b"", None
        return
    engine = open_security(url)
    try:
        with read_security(engine) as connection:
            yield read_policy(connection).secret, partial(read_changes, connection)
    finally:
        engine.dispose()


def write_pack(files: Files, directory: Path) -> Exit:
    """Write a pack into a new directory, and print what it has. The code says whether a budget cut the lineage."""
    found = verify_files(files, ())
    write_directory(files, directory)
    print_lines(_summary(found, directory))
    stopped = (found.predicate or {}).get("completeness", {}).get("stopped_by")
    return Exit.OK if stopped in (None, "depth", "columns") else Exit.CUT


def show_verified(directory: Path, key_files: Sequence[Path], *, unsigned: bool, output: Output) -> Exit:
    """Verify a pack, and print the result. Raises EvidenceError if it, or a key, cannot be read."""
    from whence.govern.evidence.signing.key_files import read_public_key

    keys = [read_public_key(path) for path in key_files]
    found = verify_files(read_directory(directory), keys)
    is_sound = not found.problems and (unsigned or bool(found.signed_by))
    if output is Output.JSON:
        print_document(_document(found, is_sound=is_sound))
    else:
        print_lines(_verdict(found, directory, is_sound=is_sound))
    return Exit.OK if is_sound else Exit.MISTAKE


def _document(found: Verification, *, is_sound: bool) -> dict[str, Any]:
    problems = [{"file": one.file, "problem": one.text} for one in found.problems]
    return {
        "verified": is_sound,
        "signed_by": list(found.signed_by),
        "problems": problems,
        "statement": found.predicate,
    }


def _verdict(found: Verification, directory: Path, *, is_sound: bool) -> Iterator[Text]:
    for one in found.problems:
        yield Text.assemble(("not verified: ", "bold red"), safe(f"{one.file} {one.text}"))
    if found.problems:
        return
    yield from _summary(found, directory)
    if found.signed_by:
        yield Text.assemble(("verified: ", "bold green"), f"signed by the key {', '.join(found.signed_by)}")
    elif is_sound:
        yield Text.assemble(("not signed: ", "bold yellow"), "the files fit together; who made them is not proven")
    else:
        reason = "name the public key of the Whence that made it with --key" if found.is_signed else "it is not signed"
        yield Text.assemble(("not verified: ", "bold red"), reason, "; --unsigned checks the hashes only")


def _summary(found: Verification, directory: Path) -> Iterable[Text]:
    if found.predicate is None:
        return
    question, completeness, events = (found.predicate[name] for name in ("question", "completeness", "events"))
    counts = ", ".join(f"{events[name]:,} {name}" for name in ("whole", "cut", "missing", "hidden") if events[name])
    yield Text(safe(f"upstream of {question['node']}"), "bold")
    yield Text(safe(f"as of {question['as_of']}, {found.files + 1} files in {directory}"))
    yield Text(f"events: {counts or 'none'}")
    if completeness["hidden_nodes"]:
        yield Text(f"hidden nodes: {completeness['hidden_nodes']:,}")
    if not completeness["complete"]:
        yield Text(f"not complete: {completeness['stopped_by']}", "yellow")
    if not found.is_signed:
        yield Text(f"{ENVELOPE} is not signed: no key signs here (whence evidence key create)", "yellow")
