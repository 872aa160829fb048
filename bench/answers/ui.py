"""The web UI in a real Chromium over 100,000 datasets: first paint, expanding, panning, search, a hub, a wide table.

The budgets are those of issue 6. What the browser does after an answer came is measured apart from the answer.
"""

import argparse
import gzip
import json
import os
import re
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen

import numpy as np
from playwright.sync_api import Browser, Page, sync_playwright

from bench.answers.query import kept_in, serving
from bench.measures.frames import frame_costs
from bench.workloads.stores import NOW, Estate, estate, fill
from fixtures.stores_of_events import apply
from ui.browser.chromium import chromium
from whence.api.ui import FILES
from whence.log import Kind, Position, Record
from whence.model.events import RunState
from whence.model.lineage import Edge
from whence.model.names import DatasetName, FieldName, JobName, RunName
from whence.openlineage.accept import accept
from whence.openlineage.write import column_lineage, dataset, facet, run_event
from whence.store.connection.engine import open_store, sqlite_url, writing
from whence.store.ingest.search_index import index_all
from whence.store.migrations.migrate import migrate

FIELDS, EDGES = 1_000_000, 1_000_000
CONSUMERS, WIDE, BOXES = 10_000, 5_000, 400
HUB = DatasetName("postgres://hub:5432", "shared.public.dim_date")
TABLE = DatasetName("postgres://hub:5432", "shared.public.wide")
SOURCE = DatasetName("postgres://hub:5432", "shared.raw.wide")
TIMES = 5
FRAMES = 90
INITIAL_KILOBYTES = 400

WATCH = """
window.seen = {};
window.answered = () => Math.max(0, ...performance.getEntriesByType('resource')
    .filter(one => one.name.includes('/api/v2/')).map(one => one.responseEnd));
const boxes = () => document.querySelectorAll('.react-flow__node').length;
const step = () => {
    const now = boxes();
    if (now !== window.seen.boxes) window.seen = {boxes: now, at: performance.now()};
    requestAnimationFrame(step);
};
requestAnimationFrame(step);
"""
"""When the number of boxes that are drawn changed last, seen from the frame after."""

PAN = """async (frames) => {
    const stage = document.querySelector('.react-flow__pane');
    const at = stage.getBoundingClientRect();
    const [x, y] = [at.left + at.width / 2, at.top + at.height / 2];
    const told = (type, x, y) => {
        const said = {clientX: x, clientY: y, button: 0, buttons: 1, bubbles: true, view: window};
        (type === 'mousedown' ? stage : window).dispatchEvent(new MouseEvent(type, said));
    };
    const frame = () => new Promise(requestAnimationFrame);
    told('mousedown', x, y);
    const took = [];
    let last = await frame();
    for (let place = 0; place < frames; place++) {
        told('mousemove', x + 240 * Math.sin(place / 9), y + 90 * Math.cos(place / 7));
        const now = await frame();
        took.push(now - last);
        last = now;
    }
    told('mouseup', x, y);
    return took;
}"""

TYPED = """async (text) => {
    const input = document.querySelector('dialog input');
    const set = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
    const frame = () => new Promise(requestAnimationFrame);
    const took = [];
    for (let end = 1; end <= text.length; end++) {
        const began = performance.now();
        set.call(input, text.slice(0, end));
        input.dispatchEvent(new InputEvent('input', {bubbles: true}));
        await frame();
        took.push(performance.now() - began);
        await new Promise(done => setTimeout(done, 60));
    }
    return took;
}"""


def main() -> None:
    """Fill, serve, look, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.answers.ui", description=__doc__)
    parser.add_argument("--fields", type=int, default=FIELDS, help="columns, ten to a dataset")
    parser.add_argument("--edges", type=int, default=EDGES)
    parser.add_argument("--keep", type=Path, help="where the store is kept, and found the next time")
    given = parser.parse_args()
    _print_bundle()
    made = estate(given.fields, given.edges)
    with kept_in(given.keep) as directory:
        store = sqlite_url(directory / "store.db")
        if not (directory / "store.db").exists():
            _fill(store, made)
        with serving(directory, store) as (port, _), _page(f"http://127.0.0.1:{port}/ui/") as (browser, page):
            _measure(browser, page, port, made)


@contextmanager
def _page(base: str) -> Iterator[tuple[Browser, Page]]:
    browser = chromium()
    if not browser:
        raise SystemExit("no Chromium: `make .venv/browser` installs one")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = opened.new_page(base_url=base, viewport={"width": 1400, "height": 900})
        page.set_default_timeout(120_000)
        page.add_init_script(WATCH)
        yield opened, page
        opened.close()


def _fill(store: str, made: Estate) -> None:
    began = time.perf_counter()
    engine = open_store(store)
    migrate(engine)
    fill(engine, made)
    bodies = [json.dumps(one).encode() for one in (_wide(), *map(_consumer, range(CONSUMERS)))]
    for start in range(0, len(bodies), 1_000):
        records = [
            Record(
                position=Position(1, start + place), kind=Kind.EVENT, key=one.key, received_at=0, payload=one.payload
            )
            for place, one in enumerate(map(accept, bodies[start : start + 1_000]), 1)
        ]
        apply(engine, records, Position(1, start + len(records) + 1))
    with writing(engine) as connection:
        index_all(connection)  # what `fill` wrote past the pipeline can be found, too
    engine.dispose()
    _say(
        f"{len(made.datasets):,} datasets, {len(made.graph.edges):,} edges; filled in", time.perf_counter() - began, "s"
    )


def _consumer(number: int) -> dict[str, object]:
    into = DatasetName(f"postgres://db{number % 7}:5432", f"team{number % 40}.public.mart_{number:05}")
    run = RunName(f"{number:08x}-0000-4000-8000-00000000000a", JobName("teams", f"build_mart_{number:05}"))
    return run_event(NOW, RunState.COMPLETE, run, inputs=[dataset(HUB)], outputs=[dataset(into)])


def _wide() -> dict[str, object]:
    names = [f"measure_{number:04}" for number in range(WIDE)]
    schema = {"schema": facet("SchemaDatasetFacet", fields=[{"name": name, "type": "double"} for name in names])}
    edges = [
        Edge(source=FieldName(SOURCE, name), target=FieldName(TABLE, name), type="DIRECT", subtype="IDENTITY")
        for name in names
    ]
    facets = {**schema, "columnLineage": column_lineage(edges)}
    run = RunName("ffffffff-0000-4000-8000-00000000000a", JobName("teams", "build_wide"))
    return run_event(NOW, RunState.COMPLETE, run, inputs=[dataset(SOURCE)], outputs=[dataset(TABLE, facets=facets)])


def _measure(browser: Browser, page: Page, port: int, made: Estate) -> None:
    roots = _middling(made)
    shown = [_first_paint(page, root) for root in roots[:TIMES]]
    _budget("first paint of the focus view, after the data", [one[0] for one in shown], 1_000)
    _say("  from the address to the picture, with answers", statistics.median(one[1] for one in shown), "ms")
    opened = [one for root in roots[:TIMES] for one in _expand(page, root)]
    _budget("expand a hop, after its data", [one[0] for one in opened], 150)
    _say("  from the click, with the answer", statistics.median(one[1] for one in opened), "ms")
    _pan(browser, page, port, roots)
    _search(page, roots[0])
    _hub(page)
    _wide_table(page)


def _middling(made: Estate) -> Sequence[str]:
    """Datasets with some neighbours, as most have that people look at."""
    graph = made.graph
    ends = graph.edges[graph.column_edges :]
    among = ends[(ends[:, 0] & 3 == 0) & (ends[:, 1] & 3 == 0)]
    ids, counts = np.unique(among[:, 0], return_counts=True)
    some = ids[(counts >= 4) & (counts <= 12)]
    chosen = some[:: max(1, len(some) // 20)]
    return [made.name(int(one)) for one in chosen[5:15]]


def _address(**query: str) -> str:
    return f"lineage?{urlencode(query)}"


def _first_paint(page: Page, root: str) -> tuple[float, float]:
    page.goto(_address(node=root))
    _still(page)
    seen, answered = page.evaluate("[window.seen.at, window.answered()]")
    return max(0.0, seen - answered), seen


def _still(page: Page) -> None:
    """Wait until boxes are there, nothing is asked for, and no box came for a while."""
    page.wait_for_function(
        """() => window.seen.boxes > 0 && !document.querySelector('.laying, .progress')
            && performance.now() - window.seen.at > 300"""
    )


def _expand(page: Page, root: str) -> Iterator[tuple[float, float]]:
    page.goto(_address(node=root))
    _still(page)
    for _ in range(2):
        buttons = page.locator(".hop-more")
        if not buttons.count():
            return
        page.evaluate("performance.clearResourceTimings()")
        before = page.evaluate("window.seen.boxes")
        began = buttons.first.evaluate("one => { const now = performance.now(); one.click(); return now; }")
        page.wait_for_function("before => window.seen.boxes !== before", arg=before)
        seen, answered = page.evaluate("[window.seen.at, window.answered()]")
        yield max(0.0, seen - max(answered, began)), seen - began
        _still(page)


def _pan(browser: Browser, page: Page, port: int, roots: Sequence[str]) -> None:
    query = _spread(port, roots)
    page.goto(f"lineage?{urlencode(query)}")
    _still(page)
    drawn = page.evaluate("document.querySelectorAll('.react-flow__minimap-node').length")
    _panned(browser, page, f"{drawn} boxes, readable")
    page.locator(".react-flow__pane").hover()
    for _ in range(12):
        page.mouse.wheel(0, 400)
    page.locator(".react-flow:not(.panning)").wait_for()
    visible = page.evaluate("document.querySelectorAll('.react-flow__node').length")
    _panned(browser, page, f"{visible} of them in sight")


def _panned(browser: Browser, page: Page, what: str) -> None:
    _budget(f"pan, p95 between frames, {what}", page.evaluate(PAN, FRAMES), 40, share=0.95)
    costs, painting = frame_costs(browser, page, lambda: page.evaluate(PAN, FRAMES))
    _budget("  CPU of the page's main thread in a frame, p95", costs, 40, share=0.95)
    _say("  the same, median", statistics.median(costs), "ms")
    _say("  CPU of painting beside it, a frame on average", painting, "ms")


def _spread(port: int, roots: Sequence[str]) -> list[tuple[str, str]]:
    """What to open, hop by hop, until so many boxes are drawn."""
    root = roots[0]
    query, boxes, todo = [("node", root)], {root}, [(root, True)]
    while todo and len(boxes) < BOXES:
        node, is_root = todo.pop(0)
        for side, way in (("up", "upstream"), ("down", "downstream")):
            found = _neighbours(port, node, way)
            if not 1 < len(found) <= 26 or len(boxes) >= BOXES:
                continue
            if not is_root:
                query.append((side, node))
            todo += [(one, False) for one in found if one not in boxes]
            boxes |= set(found)
    return query


def _neighbours(port: int, node: str, way: str) -> list[str]:
    asked = urlencode({"node": node, "depth": 1, "limit": 26, "max_nodes": 1_001})
    with urlopen(f"http://127.0.0.1:{port}/api/v2/lineage/{way}?{asked}") as answer:
        return [one["node"] for one in json.load(answer)["data"]["nodes"]]


def _search(page: Page, node: str) -> None:
    page.goto("")
    page.locator(".hero-search").click()
    page.locator("dialog input").wait_for()
    text = node.rpartition(":")[2].partition(".")[2]
    _budget("search, a keystroke until the next frame", page.evaluate(TYPED, text), 100, share=0.95)
    began = time.perf_counter()
    page.locator("dialog [role=option]", has_text=text.rpartition(".")[2]).first.wait_for()
    _say("  the last keystroke until results, with the answer", 1_000 * (time.perf_counter() - began), "ms")


def _hub(page: Page) -> None:
    began = time.perf_counter()
    page.goto(_address(node=str(HUB)))
    page.locator(".stub button").wait_for()
    _say(f"a hub with {CONSUMERS:,} consumers: the stub", 1_000 * (time.perf_counter() - began), "ms")
    began = time.perf_counter()
    page.locator(".stub button").click()
    page.locator("dialog label").first.wait_for()
    _say("  its picker", 1_000 * (time.perf_counter() - began), "ms")
    _budget("  filter in the picker, a keystroke", page.evaluate(TYPED, "mart_09"), 100, share=0.95)
    _elements(page)
    page.goto(_address(node=str(HUB), panel="impact"))
    began = time.perf_counter()
    page.locator(".affected li").first.wait_for()
    _say("  its impact panel", 1_000 * (time.perf_counter() - began), "ms")
    _elements(page)


def _wide_table(page: Page) -> None:
    began = time.perf_counter()
    page.goto(_address(node=str(TABLE), columns=str(TABLE)))
    page.locator(".box .row").first.wait_for()
    _say(f"a table with {WIDE:,} columns, unfolded", 1_000 * (time.perf_counter() - began), "ms")
    _elements(page)
    began = time.perf_counter()
    page.locator(".box-find").fill("measure_4711")
    page.locator(".row-name", has_text="measure_4711").wait_for()
    _say("  find a column in its box", 1_000 * (time.perf_counter() - began), "ms")
    began = time.perf_counter()
    page.goto(f"node?{urlencode({'node': str(TABLE)})}")
    page.locator(".table tbody tr").first.wait_for()
    _say("  its page", 1_000 * (time.perf_counter() - began), "ms")
    _elements(page)


def _elements(page: Page) -> None:
    _say("  elements in the page", page.evaluate("document.querySelectorAll('*').length"), "")


def _print_bundle() -> None:
    document = FILES / "index.html"
    if not document.is_file():
        raise SystemExit("the UI is not built: make ui")
    parts = re.findall(r'(?:src|href)="\./(assets/[^"]+\.(?:js|css))"', document.read_text("utf-8"))
    size = sum(len(gzip.compress((FILES / part).read_bytes())) for part in parts) / 1_000
    _say(f"initial bundle, gzip (budget {INITIAL_KILOBYTES} kB)", size, "kB")


def _budget(name: str, took: Sequence[float], most: float, share: float = 0.5) -> None:
    ordered = sorted(took)
    value = ordered[min(len(ordered) - 1, int(len(ordered) * share))]
    verdict = "within" if value < most else "OVER"
    _say(f"{name} ({len(took)} ×)", value, f"ms  {verdict} {most:g} ms  ({value / most:.2f} of it)")


def _say(name: str, value: float, unit: str) -> None:
    sys.stdout.write(f"{name:58} {value:10,.1f} {unit}  load {os.getloadavg()[0]:.1f}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
