"""A pack: its files, and the envelope that signs them."""

from collections.abc import Sequence
from dataclasses import dataclass

from whence.govern.evidence.content.gather import gather_content
from whence.govern.evidence.content.sources import Sources
from whence.govern.evidence.files import content_files, statement_of
from whence.govern.evidence.signing.envelope import Envelope, Signature, signed_bytes, write_envelope
from whence.govern.evidence.signing.key_files import PublishedKey, keys_document
from whence.govern.evidence.signing.keys import SigningKey
from whence.govern.evidence.statement import ENVELOPE, Files
from whence.model.names import Node
from whence.openlineage.json.wire import encode_canonical
from whence.query.answers.values import Question


@dataclass(frozen=True, slots=True, kw_only=True)
class Signer:
    """The key that signs, if there is one, and the list of the public keys of this installation."""

    key: SigningKey | None = None
    published: Sequence[PublishedKey] = ()


def make_pack(sources: Sources, root: Node, question: Question, at: int, signer: Signer) -> Files:
    """The files of the pack of a node, as of a time (µs), which is that of the question. Equal sources and keys give
    equal bytes. Raises LogError, and the errors of questions.
    """
    content = gather_content(sources, root, question, at)
    keys = encode_canonical({"keys": keys_document(signer.published)}) + b"\n"
    files = {**content_files(content), "keys.json": keys}
    return {**files, ENVELOPE: write_envelope(_sign(statement_of(content, files), signer.key))}


def _sign(payload: bytes, key: SigningKey | None) -> Envelope:
    if key is None:
        return Envelope(payload)
    return Envelope(payload, (Signature(key.public.id, key.sign(signed_bytes(payload))),))
