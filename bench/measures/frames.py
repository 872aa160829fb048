"""What a frame costs a page, in CPU time: unlike the time between frames, it does not tell how busy the machine is."""

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from playwright.sync_api import Browser, Page

_CATEGORIES = ["toplevel", "cc", "devtools.timeline", "__metadata"]
_FRAME = "ProxyMain::BeginMainFrame"
_MAIN = "CrRendererMain"
_RASTER = "ThreadPoolForegroundWorker"

Event = dict[str, Any]


def frame_costs(browser: Browser, page: Page, act: Callable[[], object]) -> tuple[Sequence[float], float]:
    """Milliseconds of CPU of the main thread in each frame while `act` runs, and of painting per frame on average."""
    browser.start_tracing(page=page, categories=_CATEGORIES)
    act()
    events: list[Event] = json.loads(browser.stop_tracing())["traceEvents"]
    threads = {(one["pid"], one["tid"]): one["args"]["name"] for one in events if one["name"] == "thread_name"}
    drawn = [one for one in events if one["name"] == _FRAME and one["ph"] == "X"]
    frames = Counter((one["pid"], one["tid"]) for one in drawn)
    main = max((one for one in frames if threads.get(one) == _MAIN), key=frames.__getitem__)
    begins = sorted(one["ts"] for one in drawn if (one["pid"], one["tid"]) == main)
    costs = [0.0] * (len(begins) + 1)
    for one in _outermost(events, {main}):
        costs[bisect_right(begins, one["ts"])] += one["tdur"] / 1_000
    painters = {one for one, name in threads.items() if one[0] == main[0] and name.startswith(_RASTER)}
    painted = sum(one["tdur"] for one in _outermost(events, painters)) / 1_000
    return costs[1:-1], painted / max(1, len(begins))


def _outermost(events: Sequence[Event], threads: set[tuple[int, int]]) -> Iterator[Event]:
    """Events of a thread that are inside no other one of it."""
    until: dict[tuple[int, int], float] = {}
    timed = [one for one in events if one["ph"] == "X" and (one["pid"], one["tid"]) in threads and "tdur" in one]
    for one in sorted(timed, key=lambda one: (one["ts"], -one.get("dur", 0))):
        thread = (one["pid"], one["tid"])
        if one["ts"] >= until.get(thread, 0):
            until[thread] = one["ts"] + one.get("dur", 0)
            yield one
