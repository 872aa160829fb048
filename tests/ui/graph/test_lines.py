"""Lines do not cross boxes: no point of a line's path is inside of a box that it does not belong to."""

import random
import re
from collections.abc import Iterator
from typing import Any

from ui.browser.modules import call_each

WIDTH, PITCH = 280, 368
STEPS = 40

Point = tuple[float, float]
Rect = dict[str, Any]


def layered(seed: int) -> tuple[list[Rect], list[dict[str, Any]]]:
    """Boxes in layers, some a few pixels out of line, and lines between any two of them, back and beside too."""
    rng = random.Random(seed)
    rects: list[Rect] = []
    for layer in range(rng.randrange(2, 8)):
        y = rng.uniform(-400, 200)
        for _ in range(rng.randrange(1, 9)):
            height = rng.choice((56, 82, 120, 330))
            x = layer * PITCH + rng.choice((0, 0, 0, rng.uniform(-4, 4)))
            rects.append({"id": f"b{len(rects)}", "x": x, "y": y, "width": WIDTH, "height": height})
            y += height + rng.choice((11, 22, 22, rng.uniform(11, 300)))
    wires = []
    for number in range(rng.randrange(1, 60)):
        source, target = rng.choice(rects), rng.choice(rects)
        if source is not target:
            ends = [one["y"] + rng.uniform(20, one["height"] - 20) for one in (source, target)]
            wires.append(
                {"id": f"w{number}", "source": source["id"], "target": target["id"], "from": ends[0], "to": ends[1]}
            )
    return rects, wires


def points(path: str) -> Iterator[Point]:
    """Points of an SVG path of M, C and L, near enough to each other."""
    here: Point = (0.0, 0.0)
    for command, text in re.findall(r"([MCL])([^MCL]+)", path):
        numbers = [float(one) for one in re.findall(r"-?[\d.]+(?:e-?\d+)?", text)]
        ends = list(zip(numbers[::2], numbers[1::2], strict=True))
        if command == "M":
            here = ends[0]
            continue
        one, two, end = ends if command == "C" else (here, ends[0], ends[0])
        for step in range(STEPS + 1):
            t = step / STEPS
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
            of = (here, one, two, end)
            x, y = (sum(weight * at[axis] for weight, at in zip(weights, of, strict=True)) for axis in (0, 1))
            yield x, y
        here = end


def inside(at: Point, rect: Rect) -> bool:
    x, y = at
    left, top, width, height = (float(rect[name]) for name in ("x", "y", "width", "height"))
    return left + 1 < x < left + width - 1 and top + 1 < y < top + height - 1


def test_no_line_crosses_a_box() -> None:
    worlds = [layered(seed) for seed in range(60)]
    answers = call_each("graph/route.ts", "pathsOf", [list(one) for one in worlds])
    lines = bent = 0
    for (rects, wires), paths in zip(worlds, answers, strict=True):
        for wire, path in zip(wires, paths, strict=True):
            crossed = {one["id"] for at in points(path) for one in rects if inside(at, one)}
            assert crossed == set(), (wire, path)
            lines += 1
            bent += path.count("C") > 1
    assert lines > 1_200
    assert bent > 400


def test_a_free_line_is_one_plain_curve_and_lines_through_one_gap_lie_side_by_side() -> None:
    rects = [{"id": name, "x": x, "y": y, "width": WIDTH, "height": 100} for name, x, y in (("a", 0, 0), ("z", 736, 0))]
    wires = [{"id": str(n), "source": "a", "target": "z", "from": 30 + n * 10, "to": 50} for n in range(4)]
    between = {"id": "m", "x": 368, "y": -20, "width": WIDTH, "height": 150}
    free, bent = call_each("graph/route.ts", "pathsOf", [[rects, wires], [[*rects, between], wires]])
    assert all(path.count("C") == 1 for path in free)
    found = [re.search(r"L[-\d.]+,([-\d.]+)", path) for path in bent]
    levels = [float(one[1]) for one in found if one]
    assert len(set(levels)) == 4
    assert all(level < -20 or level > 130 for level in levels)
