"""Run facets as a template and variables: the text that a job's runs repeat is stored once, the rest with each run.

Variables are UUIDs, times, hexadecimal hashes and numbers. A template is named by the hash of its content, so it is a
function of the event alone: writers need no coordination, and the order of events does not matter.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from whence.model.ids import hash64, netstrings
from whence.store.schema.packed import COMPRESSED, deflate, inflate

RunFacet = tuple[str, int, str, str]
"""Role ("", "input" or "output"), dataset id (0 without a role), facet key, payload."""

TemplatePart = tuple[str, int, str, str, int]
"""Role, dataset, facet key, template of the payload, number of its variables."""

TemplateParts = tuple[TemplatePart, ...]

Variable = int | str | bytes
"""A UUID (16 bytes), a time (its number of decimals, then an integer of such fractions since 1970), an integer, or
any other text as it is."""


@dataclass(frozen=True, slots=True)
class Template:
    """A row of `facet_template`. `shape`: the hash of the keys of its facets."""

    shape: int
    id: int
    content: bytes


PLACE, REPEATED_PLACE = "\x00", "\x01"
"""Where the next variable is in a template, and where the one before it is again. JSON texts escape both characters."""

_VARIABLE = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
    r"|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)?)?"
    r"|(?<=[:,\[])-?\d+(?:\.\d+)?(?=[,}\]])"  # a number of JSON
    r"|[0-9a-f]{16,}"
    r"|\d{4,}\w*",
    re.ASCII,
)
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z", re.ASCII)
_PLACES = re.compile(f"[{PLACE}{REPEATED_PLACE}]")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UUID_CHARACTERS, _UUID_BYTES = 36, 16
_INTEGER_DIGITS = 18
"""An integer of so many digits has 64 bits."""

_COMPRESSED_FROM = 128
"""Fewer bytes of variables are stored as they are: compression would make them longer."""


class SplitPayload(NamedTuple):
    """A payload with its variables taken out."""

    template: str
    variables: tuple[Variable, ...]


def split_payload(payload: str) -> SplitPayload:
    """Take the variables out of a payload. `join_payload` is the inverse.

    >>> split_payload('{"runId":"019b3a1c-0000-7000-8000-000000000001","rows":12}')[0]
    '{"runId":"\\x00","rows":\\x00}'
    """
    if _PLACES.search(payload):
        return SplitPayload(payload, ())
    variables: list[Variable] = []
    last = ""

    def take(found: re.Match[str]) -> str:
        nonlocal last
        text = found[0]
        if text == last and len(text) == _UUID_CHARACTERS:  # a parent run is often the root, too
            return REPEATED_PLACE
        last = text
        variables.append(_encode_variable(text))
        return PLACE

    return SplitPayload(_VARIABLE.sub(take, payload), tuple(variables))


def join_payload(split: SplitPayload) -> str:
    """The payload of which these are the template and the variables."""
    if not split.variables:
        return split.template
    texts = map(_decode_variable, split.variables)
    last = ""

    def put(found: re.Match[str]) -> str:
        nonlocal last
        if found[0] == PLACE:
            last = next(texts)
        return last

    return _PLACES.sub(put, split.template)


def _encode_variable(text: str) -> Variable:
    if len(text) == _UUID_CHARACTERS and text[8] == "-":
        return UUID(text).bytes
    if len(text) <= _INTEGER_DIGITS and text.isdecimal() and (text[0] != "0" or text == "0"):
        return int(text)
    return _encode_time(text)


def _encode_time(text: str) -> Variable:
    """A time as bytes if exactly its text follows from them; else the text."""
    found = _TIME.fullmatch(text)
    if found is None:
        return text
    try:
        seconds = int(datetime.fromisoformat(found[1] + "+00:00").timestamp())
    except ValueError:  # no such day
        return text
    decimals = found[2] or ""
    units = int(f"{seconds}{decimals}") if seconds > 0 else -1
    if units < 0:
        return text
    return bytes((len(decimals),)) + units.to_bytes((units.bit_length() + 7) // 8, "big")


def _decode_variable(variable: Variable) -> str:
    match variable:
        case int():
            return str(variable)
        case str():
            return variable
        case bytes() if len(variable) == _UUID_BYTES:
            return str(UUID(bytes=variable))
        case bytes():
            return _decode_time(variable)


def _decode_time(variable: bytes) -> str:
    decimals = variable[0]
    seconds, fraction = divmod(int.from_bytes(variable[1:], "big"), 10**decimals)
    text = f"{_EPOCH + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%S}"
    return f"{text}.{fraction:0{decimals}d}Z" if decimals else f"{text}Z"


def split_facets(
    facets: Sequence[RunFacet], split: Callable[[str], SplitPayload] = split_payload
) -> tuple[TemplateParts, list[Variable]]:
    """Split facets, sorted by role, dataset and key, into the parts of their template and the variables of all."""
    parts: list[TemplatePart] = []
    variables: list[Variable] = []
    for role, dataset, key, payload in facets:
        template, own = split(payload)
        parts.append((role, dataset, key, template, len(own)))
        variables += own
    return tuple(parts), variables


def make_template(parts: TemplateParts) -> Template:
    """Name and encode a template."""
    shape = netstrings(part for role, dataset, key, *_ in parts for part in (role, str(dataset), key))
    content = netstrings(str(member) for part in parts for member in part)
    return Template(hash64(shape), hash64(content), deflate(_encode(parts)))


def encode_variables(variables: Sequence[Variable]) -> bytes:
    """Encode the variables of facets. The first byte is that of a list, or the mark of compressed content."""
    encoded = _encode(variables)
    return encoded if len(encoded) < _COMPRESSED_FROM else deflate(encoded)


def join_facets(template: bytes, variables: bytes, wanted: str = "") -> Iterator[RunFacet]:
    """Yield the facets of which the content of a template and the variables were made; of one key, if it is given."""
    encoded = inflate(variables) if variables.startswith(COMPRESSED) else variables
    rest = _decode_variables(encoded)
    place = 0
    for role, dataset, key, text, count in _read_template(template):
        if wanted in ("", key):
            yield role, dataset, key, join_payload(SplitPayload(text, tuple(rest[place : place + count])))
        place += count


def has_facet(template: bytes, key: str) -> bool:
    """Whether facets of a template have a key."""
    return any(part[2] == key for part in _read_template(template))


@lru_cache(maxsize=1_000)
def _read_template(template: bytes) -> TemplateParts:
    """Thousands of runs share a template."""
    return tuple(_decode_template(inflate(template)))


_encode = msgspec.msgpack.Encoder().encode
_decode_variables = msgspec.msgpack.Decoder(list[Any]).decode  # msgspec has no union of texts and bytes
_decode_template = msgspec.msgpack.Decoder(list[TemplatePart]).decode
