"""A schedule: what is sent in which way, and who is killed when. All of it follows from the seed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from random import Random

from bench.workloads.events import Arrival
from chaos.slices import Slice, slice_of


class Way(Enum):
    """How events come: posted one by one, posted as a batch, or written to the topic past the API."""

    POST = auto()
    BATCH = auto()
    TOPIC = auto()


class Moment(Enum):
    """When a kill comes: at once, when the store has everything, or when a micro-batch, or its settlement, has done its
    work in a transaction that is not committed yet.
    """

    ANY = auto()
    IDLE = auto()
    MERGING = auto()
    SETTLING = auto()


@dataclass(frozen=True, slots=True)
class Parcel:
    """What is sent together."""

    way: Way
    arrivals: tuple[Arrival, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Parcels to send, and a kill while they are sent: at its moment, but not before `after` of them are answered."""

    parcels: tuple[Parcel, ...]
    victim: str
    moment: Moment
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """The acts, one after the other: what was killed in one may still be starting in the next."""

    seed: int
    slice: Slice
    acts: tuple[Act, ...]

    def __str__(self) -> str:
        return f"{self.seed}: " + ", ".join(f"{one.victim} {one.moment.name.lower()}" for one in self.acts)


def schedule_of(seed: int, victims: Sequence[str], ways: Sequence[Way], moments: Sequence[Moment]) -> Schedule:
    """The schedule of a seed on a stack with these victims. Consecutive seeds begin with different ones."""
    random, events_of_seed = Random(f"schedule {seed}"), slice_of(seed)
    parcels = list(_parcels(random, events_of_seed.arrivals, ways))
    killed = [victims[seed % len(victims)], *random.choices(victims, k=random.choice((0, 0, 1)))]
    cuts = [len(parcels) * number // len(killed) for number in range(len(killed) + 1)]
    acts = [
        _act(random, tuple(parcels[start:end]), victim, moments)
        for victim, start, end in zip(killed, cuts, cuts[1:], strict=False)
    ]
    return Schedule(seed=seed, slice=events_of_seed, acts=tuple(acts))


def _act(random: Random, parcels: tuple[Parcel, ...], victim: str, moments: Sequence[Moment]) -> Act:
    # As soon as the act begins, the last victim is still starting.
    after = random.choice((0, random.randrange(len(parcels)), random.randrange(len(parcels))))
    return Act(parcels=parcels, victim=victim, moment=random.choice(moments), after=after)


def _parcels(random: Random, arrivals: Sequence[Arrival], ways: Sequence[Way]) -> Iterator[Parcel]:
    start = 0
    while start < len(arrivals):
        way = random.choice(ways)
        some = tuple(arrivals[start : start + (1 if way is Way.POST else random.randrange(2, 6))])
        # A part of a batch that is no JSON would spoil all of it.
        if way is Way.BATCH and any(one.kind == "malformed" for one in some):
            way, some = Way.POST, some[:1]
        yield Parcel(way, some)
        start += len(some)
