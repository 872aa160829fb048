"""The work of `whence evidence`: make a pack from a store or a server, and verify one."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.govern.evidence.archive import read_pack, write_directory
from whence.govern.evidence.statement import ENVELOPE, Files
from whence.govern.evidence.verify import Verification, verify_files

if TYPE_CHECKING:
    from whence.govern.evidence.installation import Installation

_NO_KEY = "no key signs here (whence evidence key create)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where the data of this machine's Whence are: URLs of the databases and the log, the directory of keys, and the
    file of signed heads.
    """

    store: str
    log: str
    security: str
    keys: Path
    heads: Path


def make_pack_here(places: Places, node: str, at: int, options: dict[str, Any]) -> Files:
    """The pack of a node, from the store, the log and the keys of this machine. Raises StoreError, LogError,
    EvidenceError, and the errors of questions.
    """
    from whence.govern.evidence.pack import make_pack
    from whence.query.answers.values import TYPES, Question
    from whence.query.lookup.resolve import resolve

    types = options.pop("types")
    question = Question(at=at, types=None if types is None else TYPES[types], **options)
    with open_installation(places) as installation, installation.open_sources() as sources:
        return make_pack(sources, resolve(sources.graph, node), question, at, installation.signer)


@contextmanager
def open_installation(places: Places) -> Iterator["Installation"]:
    """This machine's Whence. One that runs open has no security database, and none is created. Raises StoreError,
    LogError.
    """
    from whence.govern.evidence.installation import Installation
    from whence.log.address import open_log
    from whence.store.security.database import has_security, open_security
    from whence.store.security.signing import signing_secret
    from whence.store.snapshots.graph import open_graph

    with open_graph(places.store) as graph:
        security = open_security(places.security) if has_security(places.security) else None
        try:
            yield Installation(
                store=graph.connection.engine,
                log=open_log(places.log, partial(signing_secret, places.security)),
                security=security,
                keys=places.keys,
                heads=places.heads,
            )
        finally:
            if security is not None:
                security.dispose()


def write_pack(files: Files, directory: Path) -> Exit:
    """Write a pack into a new directory, and print what it has. The code says whether a budget cut the lineage."""
    found = verify_files(files, ())
    write_directory(files, directory)
    print_lines(_summary(found, directory))
    stopped = (found.predicate or {}).get("completeness", {}).get("stopped_by")
    return Exit.OK if stopped in (None, "depth", "columns") else Exit.CUT


def show_verified(pack: Path, key_files: Sequence[Path], *, unsigned: bool, output: Output) -> Exit:
    """Verify a pack, a directory or a ZIP file, and print the result. Raises EvidenceError if it or a key cannot be
    read.
    """
    from whence.govern.evidence.signing.key_files import read_public_key

    keys = [read_public_key(path) for path in key_files]
    found = verify_files(read_pack(pack), keys)
    is_sound = not found.problems and (unsigned or bool(found.signed_by))
    if output is Output.JSON:
        print_document(_document(found, is_sound=is_sound))
    else:
        print_lines(_verdict(found, pack, is_sound=is_sound))
    return Exit.OK if is_sound else Exit.MISTAKE


def _document(found: Verification, *, is_sound: bool) -> dict[str, Any]:
    problems = [{"file": one.file, "problem": one.text} for one in found.problems]
    return {
        "verified": is_sound,
        "signed_by": list(found.signed_by),
        "problems": problems,
        "statement": found.predicate,
    }


def _verdict(found: Verification, pack: Path, *, is_sound: bool) -> Iterator[Text]:
    for one in found.problems:
        yield Text.assemble(("not verified: ", "bold red"), safe(f"{one.file} {one.text}"))
    if found.problems:
        return
    yield from _summary(found, pack)
    if found.signed_by:
        yield Text.assemble(("verified: ", "bold green"), f"signed by the key {', '.join(found.signed_by)}")
    elif is_sound:
        yield Text.assemble(("not signed: ", "bold yellow"), "the files fit together; who made them is not proven")
    else:
        reason = "name the public key of the Whence that made it with --key" if found.is_signed else "it is not signed"
        yield Text.assemble(("not verified: ", "bold red"), reason, "; --unsigned checks the hashes only")


def _summary(found: Verification, pack: Path) -> Iterable[Text]:
    if found.predicate is None:
        return
    question, completeness, events = (found.predicate[name] for name in ("question", "completeness", "events"))
    counts = ", ".join(f"{events[name]:,} {name}" for name in ("whole", "cut", "missing", "hidden") if events[name])
    yield Text(safe(f"upstream of {question['node']}"), "bold")
    yield Text(safe(f"as of {question['as_of']}, {found.files + 1} files in {pack}"))
    yield Text(f"events: {counts or 'none'}")
    if heads := found.predicate.get("heads", {}).get("count"):
        yield Text(f"signed heads of the logs: {heads:,}")
    if completeness["hidden_nodes"]:
        yield Text(f"hidden nodes: {completeness['hidden_nodes']:,}")
    if not completeness["complete"]:
        yield Text(f"not complete: {completeness['stopped_by']}", "yellow")
    if not found.is_signed:
        yield Text(f"{ENVELOPE} is not signed: {_NO_KEY}", "yellow")


def store_certified(places: Places, into: str, output: Output) -> None:
    """Store the packs of the current versions of all certified datasets that are not there yet, and print which."""
    from whence.api.evidence.pack_stores import open_pack_store
    from whence.govern.evidence.stored_packs import store_packs

    with open_installation(places) as installation:
        found = store_packs(installation, open_pack_store(into))
        is_signed = installation.signer.key is not None
    if output is Output.JSON:
        counts = {"present": found.present, "unwritten": found.unwritten}
        print_document({"into": into, "made": sorted(found.made), **counts, "signed": is_signed})
        return
    print_lines([Text(safe(f"stored: {one}")) for one in sorted(found.made)])
    unwritten = f", {found.unwritten:,} certified that no run wrote" if found.unwritten else ""
    print_lines([Text(safe(f"{into}: {len(found.made):,} stored, {found.present:,} already there{unwritten}"))])
    if found.made and not is_signed:
        print_lines([Text(f"they are not signed: {_NO_KEY}", "yellow")])
