"""Rate limits of producers: token buckets by events and by bytes.

A request passes two limits. The first applies to the peer's address, before the body is read. The second applies to the
source that the event names (`producer`, job namespace), before the body is decoded. So a flood costs almost nothing,
and only its sender is limited.
"""

import ipaddress
import math
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

import msgspec

from whence.errors import RateLimitError

LONGEST_RETRY_SECONDS = 60
_CACHED_LENGTH = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RateSettings:
    """Rates per second; 0: no limit. After a pause, `burst_seconds` of a rate may arrive at once."""

    producer_events: float = 2_000
    producer_bytes: float = 32 << 20
    peer_events: float = 4_000
    peer_bytes: float = 128 << 20
    burst_seconds: float = 30
    patience_seconds: float = 0.5
    """How long a request is delayed before it is rejected: openlineage-java does not repeat rejected requests."""
    remembered: int = 10_000
    """The most addresses, and the most producers. The least recently active are forgotten: their buckets are full."""


class Source(NamedTuple):
    """The source that an event names."""

    producer: str = ""
    namespace: str = ""


EventVolumes = Mapping[Source, tuple[int, int]]
"""Events and bytes by source."""


class _Job(msgspec.Struct, gc=False):
    namespace: str = ""


class _Head(msgspec.Struct, gc=False):
    producer: str = ""
    job: _Job | None = None


_decode_head = msgspec.json.Decoder(_Head).decode


def source_of(body: bytes | msgspec.Raw) -> Source:
    """The source of an event; the rest is skipped, not decoded. Empty if the body is not such an event."""
    try:
        head = _decode_head(body)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return Source()
    return Source(head.producer, head.job.namespace if head.job else "")


class Limits:
    """The two rate limits of one collector. For one event loop."""

    def __init__(self, settings: RateSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._patience = settings.patience_seconds
        burst, most = settings.burst_seconds, settings.remembered
        self._peers = _Buckets(settings.peer_events, settings.peer_bytes, burst, most)
        self._producers = _Buckets(settings.producer_events, settings.producer_bytes, burst, most)

    def at_door(self, peer: str, size: int) -> float:
        """Charge a request before it is read; `size` is its declared length. Returns the seconds to delay it.

        Raises RateLimitError. Addresses of this machine are not limited here: they are a proxy's, or the owner's.
        """
        network = network_of(peer)
        if not network:
            return 0
        delay = self._peers.delay(network.encode(), self._clock())
        if delay > self._patience:
            raise _refused("peer", network, delay)
        self._peers.take(network.encode(), 1, size, self._clock())
        return delay

    def inside(self, peer: str, volumes: EventVolumes, charged: int) -> float:
        """Charge a request after it was read: events and bytes by source. `charged` bytes were charged before.

        Returns the seconds to delay it. Raises RateLimitError; then no source is charged.
        """
        now, network = self._clock(), network_of(peer)
        if network:
            totals = (sum(amounts) for amounts in zip(*volumes.values(), strict=True))
            events, size = totals if volumes else (1, charged)
            self._peers.take(network.encode(), max(events - 1, 0), max(size - charged, 0), now)
        keys = {source: _key_of(network, source) for source in volumes}
        delay = 0.0
        for source, key in keys.items():
            waiting = self._producers.delay(key, now)
            if waiting > self._patience:
                name = f"{source.producer[:200] or 'a nameless producer'} ({source.namespace[:100]})"
                raise _refused("producer", name, waiting)
            delay = max(delay, waiting)
        for source, (events, size) in volumes.items():
            self._producers.take(keys[source], events, size, now)
        return delay


def _refused(door: str, name: str, delay: float) -> RateLimitError:
    seconds = min(math.ceil(delay), LONGEST_RETRY_SECONDS)
    return RateLimitError(door, f"{name} sends more than its share", seconds)


def tally(bodies: Iterable[bytes | msgspec.Raw]) -> EventVolumes:
    """Events and bytes by source."""
    volumes: dict[Source, tuple[int, int]] = {}
    for body in bodies:
        source = source_of(body)
        events, size = volumes.get(source, (0, 0))
        volumes[source] = events + 1, size + len(memoryview(body))
    return volumes


class _Buckets:
    """Token buckets by key, with the generic cell rate algorithm: the time at which each bucket is full again."""

    __slots__ = ("_burst", "_bytes", "_events", "_full_at", "_most")

    def __init__(self, events: float, size: float, burst: float, most: int) -> None:
        self._events, self._bytes, self._burst, self._most = events, size, burst, most
        self._full_at: OrderedDict[bytes, tuple[float, float]] = OrderedDict()

    def delay(self, key: bytes, now: float) -> float:
        """Seconds until a token is available."""
        return max(0.0, max(self._full_at.get(key, (now, now))) - now - self._burst)

    def take(self, key: bytes, events: int, size: int, now: float) -> None:
        """Take tokens, even into debt: a large request passes once, and the following ones wait."""
        by_events, by_bytes = self._full_at.pop(key, (now, now))
        self._full_at[key] = (
            _full_after(by_events, events, self._events, now),
            _full_after(by_bytes, size, self._bytes, now),
        )
        if len(self._full_at) > self._most:
            self._full_at.popitem(last=False)


def _full_after(full_at: float, amount: int, rate: float, now: float) -> float:
    return max(full_at, now) + amount / rate if rate else now


@lru_cache(maxsize=1_024)
def network_of(peer: str) -> str:
    """The network of an address: for IPv6 the first 64 bits; empty for this machine's own addresses."""
    try:
        address = ipaddress.ip_address(peer)
    except ValueError:
        return ""
    mapped = getattr(address, "ipv4_mapped", None) or address
    if mapped.is_loopback:
        return ""
    return str(mapped) if mapped.version == 4 else str(ipaddress.ip_network((mapped, 64), strict=False))


def _key_of(network: str, source: Source) -> bytes:
    is_short = len(source.producer) + len(source.namespace) < _CACHED_LENGTH
    return (_make_key_cached if is_short else _make_key)(network, source)


def _make_key(network: str, source: Source) -> bytes:
    return blake2b(f"{network}\n{source.producer}\n{source.namespace}".encode(), digest_size=16).digest()


_make_key_cached = lru_cache(maxsize=1_024)(_make_key)
