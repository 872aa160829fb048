// Routes of lines from box to box that cross no other box. Boxes are in bands from left to right, separated by empty
// gutters. A line changes its height only in gutters, and passes each band between two boxes, or above or below all
// of them. Pure; imports only types.

import type { Point, Size } from "./placement";

export interface Rect extends Point, Size {
  id: string;
}
/** A line from the right side of a box to the left side of another. */
export interface Wire {
  id: string;
  source: string;
  target: string;
  /** Where it leaves and enters. */
  from: number;
  to: number;
}
/** A level run through a band. */
export interface Run {
  left: number;
  right: number;
  y: number;
}
export type Route =
  | { way: "forth"; runs: readonly Run[] }
  /** Round the right sides of two boxes of one band; it swings out so far. */
  | { way: "beside"; reach: number }
  /** To a band further left: out, back along a level, and in again. */
  | { way: "back"; y: number; reach: number };

const MARGIN = 10;
const CLEAR = 6;
const LANE = 5;
const FURTHEST = 72;

interface Band {
  left: number;
  right: number;
  boxes: Rect[];
}
/** Free of boxes over the whole width of a band. */
interface Slot {
  top: number;
  bottom: number;
}

export const routed = (rects: readonly Rect[], wires: readonly Wire[]): Map<string, Route> => {
  const bands = bandsOf(rects);
  const bandOf = new Map(bands.flatMap((band, at) => band.boxes.map((box) => [box.id, at] as const)));
  const boxes = new Map(rects.map((one) => [one.id, one]));
  const passes: Pass[] = [];
  const routes = new Map<string, Route>();
  for (const wire of wires) {
    const [from, to] = [bandOf.get(wire.source), bandOf.get(wire.target)];
    const [source, target] = [boxes.get(wire.source), boxes.get(wire.target)];
    if (from === undefined || to === undefined || !source || !target) continue;
    const reach = reachOf(bands, from, Math.max(source.x + source.width, target.x + target.width));
    if (from === to) routes.set(wire.id, { way: "beside", reach });
    else if (to < from)
      routes.set(wire.id, back(bands.slice(to, from + 1), wire, Math.min(reach, reachLeft(bands, to))));
    else passes.push(...passesOf(bands.slice(from + 1, to), wire, source, target));
  }
  for (const [id, runs] of levelled(passes)) routes.set(id, { way: "forth", runs });
  return routes;
};

const bandsOf = (rects: readonly Rect[]): Band[] => {
  const bands: Band[] = [];
  for (const box of rects.toSorted((a, b) => a.x - b.x)) {
    const last = bands.at(-1);
    const [left, right] = [box.x - MARGIN, box.x + box.width + MARGIN];
    if (last && left <= last.right) {
      last.right = Math.max(last.right, right);
      last.boxes.push(box);
    } else bands.push({ left, right, boxes: [box] });
  }
  return bands;
};

const slotsOf = (bands: readonly Band[]): Slot[] => {
  const slots: Slot[] = [];
  let top = -Infinity;
  for (const box of bands.flatMap((band) => band.boxes).sort((a, b) => a.y - b.y)) {
    if (box.y - CLEAR >= top) slots.push({ top, bottom: box.y - CLEAR });
    top = Math.max(top, box.y + box.height + CLEAR);
  }
  return [...slots, { top, bottom: Infinity }];
};

const clamped = (y: number, { top, bottom }: Slot): number => Math.min(Math.max(y, top), bottom);

const nearest = (slots: readonly Slot[], y: number): Slot =>
  slots.reduce((best, one) => (Math.abs(clamped(y, one) - y) < Math.abs(clamped(y, best) - y) ? one : best));

/** How far a line may swing out to the right of a band: as far as the next one allows. */
const reachOf = (bands: readonly Band[], at: number, right: number): number => {
  const next = bands[at + 1];
  return next ? Math.min(FURTHEST, next.left + MARGIN - right) : FURTHEST;
};

const reachLeft = (bands: readonly Band[], at: number): number => {
  const before = bands[at - 1];
  return before ? Math.min(FURTHEST, bands[at]!.left - before.right + 2 * MARGIN) : FURTHEST;
};

const back = (bands: readonly Band[], wire: Wire, reach: number): Route => {
  const y = (wire.from + wire.to) / 2;
  return { way: "back", y: clamped(y, nearest(slotsOf(bands), y)), reach };
};

/** A wire's way through one band. */
interface Pass {
  wire: string;
  band: Band;
  slot: Slot;
  y: number;
}

const passesOf = (bands: readonly Band[], wire: Wire, source: Rect, target: Rect): Pass[] => {
  const [left, right] = [source.x + source.width, target.x];
  if (bands.every((band) => isFree(band, wire, left, right))) return [];
  let [x, y] = [left, wire.from];
  return bands.map((band) => {
    const middle = (band.left + band.right) / 2;
    const wished = y + ((wire.to - y) * (middle - x)) / (right - x);
    const slot = nearest(slotsOf([band]), wished);
    [x, y] = [band.right, clamped(wished, slot)];
    return { wire: wire.id, band, slot, y: wished };
  });
};

/** Whether the plain curve meets no box of a band: it only climbs or only falls, so its ends there bound it. */
const isFree = (band: Band, { from, to }: Wire, left: number, right: number): boolean => {
  const ends = [heightAt(band.left, left, from, right, to), heightAt(band.right, left, from, right, to)];
  const [top, bottom] = [Math.min(...ends) - CLEAR, Math.max(...ends) + CLEAR];
  return band.boxes.every((box) => box.y >= bottom || box.y + box.height <= top);
};

/** The height of the plain curve at `x`. */
const heightAt = (x: number, left: number, from: number, right: number, to: number): number => {
  const share = (x - left) / (right - left);
  let [low, high] = [0, 1];
  for (let step = 0; step < 24; step += 1) {
    const t = (low + high) / 2;
    // The control points are half-way, so x grows as 1.5t(1-t)² + 1.5t²(1-t) + t³.
    if (1.5 * t * (1 - t) ** 2 + 1.5 * t ** 2 * (1 - t) + t ** 3 < share) low = t;
    else high = t;
  }
  const t = (low + high) / 2;
  return from + (to - from) * (3 * t ** 2 - 2 * t ** 3);
};

/** Lines that share a slot lie side by side in it, in the order of their heights. */
const levelled = (passes: readonly Pass[]): Map<string, Run[]> => {
  const shared = new Map<string, Pass[]>();
  for (const one of passes) {
    const key = `${one.band.left} ${one.slot.top}`;
    shared.set(key, [...(shared.get(key) ?? []), one]);
  }
  const levels = new Map<Pass, number>();
  for (const some of shared.values()) {
    const { top, bottom } = some[0]!.slot;
    const lane = Math.min(LANE, (bottom - top) / some.length);
    let last = -Infinity;
    some.sort((a, b) => a.y - b.y);
    some.forEach((one, place) => {
      const level = Math.max(clamped(one.y, one.slot), last + lane);
      last = Math.min(level, bottom - (some.length - 1 - place) * lane);
      levels.set(one, last);
    });
  }
  const runs = new Map<string, Run[]>();
  for (const one of passes) {
    const run = { left: one.band.left, right: one.band.right, y: levels.get(one)! };
    runs.set(one.wire, [...(runs.get(one.wire) ?? []), run]);
  }
  return runs;
};

const bend = (x: number, y: number, toX: number, toY: number): string => {
  const middle = (x + toX) / 2;
  return `C${middle},${y} ${middle},${toY} ${toX},${toY}`;
};

/** The path of a line as SVG, from the right side of its source to its target. `width` is the target's. */
export const drawnPath = (route: Route | undefined, from: Point, to: Point, width: number): string => {
  const start = `M${from.x},${from.y}`;
  switch (route?.way) {
    case "beside": {
      const right = to.x + width;
      const most = Math.max(from.x, right) + Math.min(route.reach, 20 + Math.abs(to.y - from.y) / 4);
      return `${start} C${most},${from.y} ${most},${to.y} ${right},${to.y}`;
    }
    case "back": {
      const { y, reach } = route;
      const out = `C${from.x + reach},${from.y} ${from.x + reach},${y} ${from.x},${y}`;
      return `${start} ${out} L${to.x},${y} C${to.x - reach},${y} ${to.x - reach},${to.y} ${to.x},${to.y}`;
    }
    default: {
      let [x, y] = [from.x, from.y];
      const parts = (route?.runs ?? []).map((run) => {
        const part = `${bend(x, y, run.left, run.y)} L${run.right},${run.y}`;
        [x, y] = [run.right, run.y];
        return part;
      });
      return [start, ...parts, bend(x, y, to.x, to.y)].join(" ");
    }
  }
};

/** The paths of all lines, for boxes of which only the places are known. */
export const pathsOf = (rects: readonly Rect[], wires: readonly Wire[]): string[] => {
  const routes = routed(rects, wires);
  const boxes = new Map(rects.map((one) => [one.id, one]));
  return wires.map((wire) => {
    const [source, target] = [boxes.get(wire.source)!, boxes.get(wire.target)!];
    const from = { x: source.x + source.width, y: wire.from };
    return drawnPath(routes.get(wire.id), from, { x: target.x, y: wire.to }, target.width);
  });
};
