// Placement of boxes. Boxes keep their places; new ones are added to the layer beside their neighbours.

export interface Size {
  width: number;
  height: number;
}
export interface Point {
  x: number;
  y: number;
}
export type Places = ReadonlyMap<string, Point>;
export interface Sized extends Size {
  id: string;
}
export interface Link {
  source: string;
  target: string;
}

export const WIDTH = 268;
export const LAYER_GAP = 64;
export const ROW_GAP = 22;

/** Places for all boxes; those in `known` are unchanged. */
export const placed = (boxes: readonly Sized[], links: readonly Link[], known: Places): Map<string, Point> => {
  const places = new Map<string, Point>();
  for (const { id } of boxes) {
    const at = known.get(id);
    if (at) places.set(id, at);
  }
  const sizes = new Map(boxes.map((one) => [one.id, one]));
  let waiting = boxes.filter((one) => !places.has(one.id));
  while (waiting.length) {
    const wave = waiting.flatMap((one) => wish(one, links, places, sizes));
    const first = waiting[0]!;
    const coming = wave.length ? wave : [{ box: first, x: 0, y: below(places, sizes) }];
    for (const column of columns(coming))
      for (const [box, y] of spread(column))
        places.set(box.id, { x: column[0]!.x, y: free(box, column[0]!.x, y, places, sizes) });
    waiting = waiting.filter((one) => !places.has(one.id));
  }
  return places;
};

interface Wish {
  box: Sized;
  x: number;
  y: number;
}

const wish = (box: Sized, links: readonly Link[], places: Places, sizes: ReadonlyMap<string, Size>): Wish[] => {
  const near = links.flatMap(({ source, target }) => {
    const [other, step] = source === box.id ? [target, -1] : target === box.id ? [source, 1] : ["", 0];
    const at = places.get(other);
    return at ? [{ at, step, height: sizes.get(other)?.height ?? 0 }] : [];
  });
  if (!near.length) return [];
  const middle = near.reduce((sum, one) => sum + one.at.y + one.height / 2, 0) / near.length;
  const reach = WIDTH + LAYER_GAP;
  const down = near.filter((one) => one.step > 0).map((one) => one.at.x + reach);
  const up = near.filter((one) => one.step < 0).map((one) => one.at.x - reach);
  return [{ box, x: down.length ? Math.max(...down) : Math.min(...up), y: middle - box.height / 2 }];
};

const columns = (wishes: readonly Wish[]): Wish[][] => {
  const by = new Map<number, Wish[]>();
  for (const one of wishes) by.set(one.x, [...(by.get(one.x) ?? []), one]);
  return [...by.values()].map((some) => some.sort((a, b) => a.y - b.y || a.box.id.localeCompare(b.box.id)));
};

/** The positions closest to the wanted ones that order and heights allow (pool adjacent violators). */
const spread = (column: readonly Wish[]): [Sized, number][] => {
  interface Block {
    wishes: number[];
    members: { box: Sized; offset: number }[];
    height: number;
  }
  const blocks: Block[] = [];
  const top = (block: Block) => block.wishes.reduce((sum, one) => sum + one, 0) / block.wishes.length;
  for (const { box, y } of column) {
    blocks.push({ wishes: [y], members: [{ box, offset: 0 }], height: box.height + ROW_GAP });
    for (;;) {
      const [last, before] = [blocks.at(-1)!, blocks.at(-2)];
      if (!before || top(before) + before.height <= top(last)) break;
      blocks.splice(-2, 2, {
        wishes: [...before.wishes, ...last.wishes.map((one) => one - before.height)],
        members: [...before.members, ...last.members.map((one) => ({ ...one, offset: one.offset + before.height }))],
        height: before.height + last.height,
      });
    }
  }
  return blocks.flatMap((block) => block.members.map(({ box, offset }): [Sized, number] => [box, top(block) + offset]));
};

/** The free place nearest to `y` in a column. */
const free = (box: Sized, x: number, y: number, places: Places, sizes: ReadonlyMap<string, Size>): number => {
  const taken = [...places].flatMap(([id, at]) => {
    const size = sizes.get(id);
    return size && Math.abs(at.x - x) < WIDTH + ROW_GAP
      ? [{ from: at.y - box.height - ROW_GAP, to: at.y + size.height + ROW_GAP }]
      : [];
  });
  const fits = (at: number) => taken.every((one) => at <= one.from || at >= one.to);
  const tries = [y, ...taken.flatMap((one) => [one.from, one.to])].filter(fits);
  return tries.reduce((best, one) => (Math.abs(one - y) < Math.abs(best - y) ? one : best), tries[0] ?? y);
};

const below = (places: Places, sizes: ReadonlyMap<string, Size>): number =>
  Math.max(0, ...[...places].map(([id, at]) => at.y + (sizes.get(id)?.height ?? 0) + ROW_GAP));

/** The same places, except that boxes that grew push those below them down. */
export const settled = (boxes: readonly Sized[], places: Places): Map<string, Point> => {
  const order = boxes
    .flatMap((box) => {
      const at = places.get(box.id);
      return at ? [{ box, at }] : [];
    })
    .sort((a, b) => a.at.y - b.at.y);
  const done: { x: number; y: number; height: number }[] = [];
  const result = new Map<string, Point>();
  for (const { box, at } of order) {
    const above = done.filter((one) => Math.abs(one.x - at.x) < WIDTH);
    const y = Math.max(at.y, ...above.map((one) => one.y + one.height + ROW_GAP / 2));
    done.push({ x: at.x, y, height: box.height });
    result.set(box.id, { x: at.x, y });
  }
  return result;
};

/** The rectangle around all boxes that have a place. */
export const bounds = (boxes: readonly Sized[], places: Places): Point & Size => {
  const edge = { left: 0, top: 0, right: 0, bottom: 0 };
  for (const { id, width, height } of boxes) {
    const at = places.get(id);
    if (!at) continue;
    edge.left = Math.min(edge.left, at.x);
    edge.top = Math.min(edge.top, at.y);
    edge.right = Math.max(edge.right, at.x + width);
    edge.bottom = Math.max(edge.bottom, at.y + height);
  }
  return { x: edge.left, y: edge.top, width: edge.right - edge.left, height: edge.bottom - edge.top };
};
