"""How a history may arrive: in any order, some events twice and written differently, in any batches."""

import json
from random import Random

from hypothesis import strategies as st

from generators.universe import Json


def body(event: Json, seed: int = 0) -> bytes:
    """The event as JSON; another seed gives another order of keys and other spaces, not another event."""
    if not seed:
        return json.dumps(event, ensure_ascii=False).encode()
    random = Random(seed)
    return json.dumps(
        _shuffled(event, random), ensure_ascii=random.random() < 0.5, indent=random.choice([None, 1])
    ).encode()


@st.composite
def arrivals(draw: st.DrawFn, history: list[Json], most_batches: int = 4) -> list[list[bytes]]:
    """Batches of bodies: a permutation of the history, with duplicates."""
    again = draw(st.lists(st.integers(0, len(history) - 1), max_size=len(history)))
    order = draw(
        st.permutations(
            [(place, 0) for place in range(len(history))] + [(place, nth) for nth, place in enumerate(again, 1)]
        )
    )
    bodies = [body(history[place], seed) for place, seed in order]
    cuts = sorted(draw(st.lists(st.integers(0, len(bodies)), max_size=most_batches - 1)))
    return [bodies[start:end] for start, end in zip([0, *cuts], [*cuts, len(bodies)], strict=True)]


def _shuffled(value: object, random: Random) -> object:
    match value:
        case dict():
            items = [(key, _shuffled(one, random)) for key, one in value.items()]
            random.shuffle(items)
            return dict(items)
        case list():
            return [_shuffled(one, random) for one in value]
    return value
