"""Mutated event bodies: broken bytes, broken JSON, and JSON that is no event. Fast, and the same for a seed.

Every value of a few seed events is located once in the seed's text, so that a mutation is a splice of bytes.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

RUN_ID = "01941f29-7c00-7abc-8def-000000000001"
SEEDS = Path(__file__).with_name("seeds.jsonl").read_text(encoding="utf-8").splitlines()
"""A run, a job and a dataset event."""

DEEP = 10_000
ODD = tuple(
    piece.encode("utf-8", "surrogatepass")
    for piece in (
        *(
            "null",
            "true",
            "0",
            "-1",
            "1.5",
            '""',
            '" "',
            "[]",
            "{}",
            "[[]]",
            "[{}]",
            "[null]",
            '{"":""}',
            '["x"]',
            '{"a":{"b":[]}}',
        ),
        *(
            "1e999",
            "-1e999",
            "NaN",
            "Infinity",
            "1" * 400,
            "9223372036854775808",
            "-9223372036854775809",
            "0.1e-400",
            "01",
            "1.",
            "+1",
        ),
        *(
            '"\\u0000"',
            '"a\\u0000b"',
            '"\\ud800"',
            '"\\udc00\\ud800"',
            '"\ud800"',
            '"\\uFFFF"',
            '"\\x41"',
            '"\u202e"',
            '"😀"',
            '"%"',
            '"%zz"',
            '":"',
        ),
        *(
            '"2026-13-01T00:00:00Z"',
            '"0000-01-01T00:00:00Z"',
            '"9999-12-31T23:59:60Z"',
            '"2026-01-01"',
            '"now"',
            '"-262144-01-01T00:00:00Z"',
        ),
        *(
            '"2026-01-01T00:00:00+99:99"',
            '"1969-12-31T23:59:59Z"',
            f'"{RUN_ID.upper()}"',
            f'"{RUN_ID.replace("-", "")}"',
            '"not-a-uuid"',
        ),
        *(
            '"DATASET"',
            '"JOB"',
            '"complete"',
            '"STREAMING"',
            '"://"',
            '"s3://"',
            '"s3a:///"',
            '"postgres://u:p@:5432:x/"',
            '"file:///../.."',
        ),
        *(
            '"' + "x" * 5_000 + '"',
            "[" + "0," * 500 + "0]",
            '{"_deleted":true}',
            '{"fields":7}',
            '{"entries":{}}',
            '{"run":[],"job":0}',
        ),
        *(
            '"<script>alert(1)</script>"',
            '"\'; drop table event; --"',
            '"\\n\\r\\u001b[31m"',
            "undefined",
            "'x'",
            "/**/1",
            "]",
            "}",
            ",",
        ),
    )
)
DEEP_VALUES = (b"[" * DEEP + b"]" * DEEP, b'{"a":' * DEEP + b"1" + b"}" * DEEP, b"[" * DEEP)
BAD_BYTES = (
    b"\xff",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xf8\x88\x80\x80\x80",
    b"\x00",
    b"\x80",
    b"\xef\xbb\xbf",
    b"\xf4\x90\x80\x80",
    b"\xe6\x97",
)
WHOLE = (
    b"",
    b" ",
    b"null",
    b"[]",
    b"{}",
    b"[{}]",
    b'"x"',
    b"0",
    b"{",
    b"{{}}",
    b"\x1f\x8b\x08",
    b'{"eventTime":"2026-01-01T00:00:00Z"}',
)


@dataclass(frozen=True)
class Seed:
    """A seed event's text, the place (start, end) of each of its values and keys, and where objects begin."""

    text: bytes
    values: tuple[tuple[int, int], ...]
    keys: tuple[tuple[int, int], ...]
    objects: tuple[int, ...]


def mutations(seed: int, n: int) -> Iterator[bytes]:
    """n bodies, the same for the same seed. Most are no events; some still are."""
    random = Random(seed)
    for _ in range(n):
        text = random.choice(_LOCATED)
        mutated = random.choice(_KINDS)(random, text)
        if random.random() < 0.1:
            mutated = _flip(random, text, mutated)
        yield mutated


def _swap(random: Random, seed: Seed) -> bytes:
    start, end = random.choice(seed.values)
    odd = random.choice(ODD) if random.random() < 0.998 else random.choice(DEEP_VALUES)
    return seed.text[:start] + odd + seed.text[end:]


def _swap_many(random: Random, seed: Seed) -> bytes:
    """Several leaves at once: the places are taken from the end, so that the earlier ones stay valid."""
    text, last = seed.text, len(seed.text)
    for start, end in sorted(random.sample(seed.values, 4), reverse=True):
        if end <= last:
            text, last = text[:start] + random.choice(ODD) + text[end:], start
    return text


def _move(random: Random, seed: Seed) -> bytes:
    """One value of the seed in the place of another."""
    start, end = random.choice(seed.values)
    other, other_end = random.choice(seed.values)
    return seed.text[:start] + seed.text[other:other_end] + seed.text[end:]


def _rename(random: Random, seed: Seed) -> bytes:
    start, end = random.choice(seed.keys)
    key = seed.text[slice(*random.choice(seed.keys))] if random.random() < 0.5 else random.choice(ODD)
    return seed.text[:start] + key + seed.text[end:]


def _duplicate(random: Random, seed: Seed) -> bytes:
    """A key twice in one object, or a stranger's key."""
    place = random.choice(seed.objects)
    key = seed.text[slice(*random.choice(seed.keys))]
    return seed.text[:place] + key + b":" + random.choice(ODD) + b"," + seed.text[place:]


def _truncate(random: Random, seed: Seed) -> bytes:
    return seed.text[: random.randrange(len(seed.text))]


def _flip(random: Random, seed: Seed, text: bytes = b"") -> bytes:
    flipped = bytearray(text or seed.text)
    for _ in range(random.randrange(1, 4)):
        flipped[random.randrange(len(flipped))] ^= 1 << random.randrange(8)
    return bytes(flipped)


def _insert(random: Random, seed: Seed) -> bytes:
    place = random.randrange(len(seed.text) + 1)
    return seed.text[:place] + random.choice(BAD_BYTES) + seed.text[place:]


def _cut(random: Random, seed: Seed) -> bytes:
    start = random.randrange(len(seed.text))
    return seed.text[:start] + seed.text[start + random.randrange(1, 60) :]


def _other(random: Random, seed: Seed) -> bytes:
    """No object at all, two bodies, a list of bodies, or another encoding."""
    kind = random.randrange(6)
    if kind == 0:
        return seed.text + seed.text
    if kind == 1:
        return b"[" + seed.text + b"]"
    if kind == 2:
        return seed.text.decode().encode(random.choice(["utf-16", "utf-32", "utf-8-sig"]))
    return random.choice(WHOLE)


_KINDS: tuple[Callable[[Random, Seed], bytes], ...] = (
    *(_swap, _swap, _swap, _swap_many, _swap_many, _move, _rename, _duplicate),
    *(_truncate, _flip, _insert, _cut, _other),
)


def _locate(event: object) -> Seed:
    pieces: list[bytes] = []
    values: list[tuple[int, int]] = []
    keys: list[tuple[int, int]] = []
    objects: list[int] = []

    def write(piece: str) -> int:
        pieces.append(piece.encode())
        return sum(map(len, pieces))

    def walk(value: object) -> None:
        start = write("")
        match value:
            case dict():
                objects.append(write("{"))
                for place, (key, one) in enumerate(value.items()):
                    before = write("," if place else "")
                    keys.append((before, write(json.dumps(key, ensure_ascii=False))))
                    write(":")
                    walk(one)
                write("}")
            case list():
                write("[")
                for place, one in enumerate(value):
                    write("," if place else "")
                    walk(one)
                write("]")
            case _:
                write(json.dumps(value, ensure_ascii=False))
        values.append((start, write("")))

    walk(event)
    text = b"".join(pieces)
    return Seed(
        text=text,
        values=tuple(values),
        keys=tuple(keys),
        objects=tuple(place for place in objects if text[place : place + 1] != b"}"),
    )


_LOCATED = tuple(_locate(json.loads(line)) for line in SEEDS)
