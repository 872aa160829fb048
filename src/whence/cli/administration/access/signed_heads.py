"""`whence audit sign` and `whence audit prove`: the work and output of both."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from rich.text import Text

from whence.cli.administration.access.keys import read
from whence.cli.output.streams import Exit, Output, print_document, print_lines, safe
from whence.errors import AuditError, EvidenceError, LogError
from whence.govern.evidence.signing.key_files import current_key, list_keys, read_public_key
from whence.govern.evidence.signing.keys import PublicKey
from whence.govern.signed_heads.head_file import append_head, read_head_file
from whence.govern.signed_heads.prove import Problem, Proof, prove_events
from whence.govern.signed_heads.statement import SignedHead
from whence.log import Log
from whence.log.address import open_log
from whence.log.segments.log import SegmentLog
from whence.store.security.audit import Head, verify_log
from whence.store.security.database import has_security
from whence.store.security.signing import signing_secret


def show_signed(file: Path, keys: Path, security: str, log: str, now: str, output: Output) -> None:
    """Sign the heads of both logs, and append them to a file. Raises EvidenceError, AuditError, LogError,
    StoreError.
    """
    key = current_key(keys)
    if key is None:
        raise EvidenceError(str(keys), "no key signs yet; run `whence evidence key create`")
    number = len(read_head_file(file)) + 1
    made = append_head(file, _open(log, security), partial(_verified, security), key, now)
    heads = made.heads
    records = sum(one.records for one in heads.ranges)
    rows = None if heads.audit is None else heads.audit.number
    if output is Output.JSON:
        print_document({"head": number, "audit_rows": rows, "new_records": records, "signed_by": key.public.id})
        return
    audited = "no audit log" if rows is None else f"{rows:,} rows of the audit log"
    print_lines([Text(safe(f"head {number} of {file}: {audited}, {records:,} new records of the event log"))])


def show_proof(file: Path, keys: Path, trusted: Sequence[Path], security: str, log: str, output: Output) -> Exit:
    """Compare both logs with their signed heads. Raises EvidenceError, LogError, StoreError."""
    heads = read_head_file(file)
    known = [read_public_key(path) for path in trusted] or [PublicKey.read(one.pem.encode()) for one in list_keys(keys)]
    proof = prove_events(_open(log, security), heads, known)
    problems = [*proof.problems, *_wrong_audit(security, heads)]
    if output is Output.JSON:
        found = [{"head": one.number, "problem": one.text} for one in problems]
        counts = {"heads": len(heads), "records": proof.records, "deleted_records": proof.deleted}
        print_document({"proven": bool(heads) and not problems, **counts, "problems": found})
    else:
        print_lines(_verdict(heads, proof, problems))
    return Exit.OK if heads and not problems else Exit.MISTAKE


def _verified(security: str, earlier: Sequence[Head]) -> Head | None:
    """The head of the audit log, if all of it is as it was written and earlier heads are in it. None without one."""
    if not has_security(security):
        return None
    with read(security) as connection:
        return verify_log(connection, earlier)


def _wrong_audit(security: str, heads: Sequence[SignedHead]) -> Sequence[Problem]:
    audited = [number for number, one in enumerate(heads, 1) if one.heads.audit is not None]
    if not audited:
        return ()
    if not has_security(security):
        return [Problem(audited[-1], "signed an audit log, and there is none")]
    try:
        _verified(security, [one.heads.audit for one in heads if one.heads.audit is not None])
    except AuditError as error:
        return [Problem(audited[-1], f"signed an audit log that differs: {error}")]
    return ()


def _open(log: str, security: str) -> Log:
    found = open_log(log, partial(signing_secret, security))
    if isinstance(found, SegmentLog) and not found.directory.is_dir():
        raise LogError(f"there is no event log in {found.directory}: name its place with --data or --log")
    return found


def _verdict(heads: Sequence[SignedHead], proof: Proof, problems: Sequence[Problem]) -> Sequence[Text]:
    if not heads:
        return [Text.assemble(("not proven: ", "bold red"), "the file has no signed head")]
    if problems:
        return [Text.assemble(("not proven: ", "bold red"), safe(f"head {one.number} {one.text}")) for one in problems]
    last = heads[-1].heads
    rows = "" if last.audit is None else f" and {last.audit.number:,} rows of the audit log"
    lines = [
        Text.assemble(("proven: ", "bold green"), f"{proof.records:,} records of the event log{rows} are as signed")
    ]
    if proof.deleted:
        text = (
            f"{proof.deleted:,} signed records are in ranges whose beginning the log has no more (retention, archive)"
        )
        lines.append(Text.assemble(("not compared: ", "bold yellow"), text))
    return [*lines, Text(safe(f"heads: {len(heads):,}, the last of {last.signed_at}; later records are in none"))]
