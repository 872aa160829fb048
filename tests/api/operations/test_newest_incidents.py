"""The incidents of a position are computed once, whoever asks, and again when time alone may change them."""

from concurrent.futures import ThreadPoolExecutor

from whence.api.incidents.newest import MOST_AGE, NewestIncidents
from whence.govern.incidents.current import ComputedIncidents, ReadIncidents

NOW = 1_790_000_000_000_000


class Store:
    """A store at a position, and how often its incidents were computed."""

    def __init__(self) -> None:
        self.reached: tuple[int, ...] = (7,)
        self.now, self.count = NOW, 0
        self.recorded: ComputedIncidents | None = None
        self.newest = NewestIncidents(lambda: self.recorded)

    def compute(self) -> ReadIncidents:
        self.count += 1
        return ReadIncidents(at=self.now, incidents=(), transitions=(), are_all=True, reached=self.reached)

    def read(self) -> ReadIncidents:
        return self.newest.read(self.reached, self.now, self.compute)


def test_all_callers_share_one_computation_until_the_position_moves() -> None:
    store = Store()
    with ThreadPoolExecutor(8) as pool:
        found = set(map(id, pool.map(lambda _: store.read(), range(64))))
    assert (len(found), store.count) == (1, 1)
    store.reached = (8,)
    assert (store.read().reached, store.count) == ((8,), 2)


def test_an_answer_of_the_same_position_that_is_too_old_is_computed_again() -> None:
    store = Store()
    store.read()
    store.now += MOST_AGE
    assert (store.read().at, store.count) == (NOW, 1)
    store.now += 1
    assert (store.read().at, store.count) == (store.now, 2)


def test_what_was_computed_for_the_recording_is_an_answer_if_it_is_of_the_same_position() -> None:
    store = Store()
    store.recorded = ComputedIncidents(read=store.compute(), new=())
    assert (store.read() is store.recorded.read, store.count) == (True, 1)
    store.reached = (8, 9)
    assert (store.read() is store.recorded.read, store.count) == (False, 2)
