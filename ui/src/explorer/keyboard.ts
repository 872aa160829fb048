// Keys of the explorer; `?` shows them.

import { instantAgo, LENSES, type Explored } from "../address";
import type { Picture } from "../graph/model";
import type { Point } from "../graph/placement";
import { toggled, type Actions } from "./actions";
import type { Commands } from "./canvas/Graph";

interface Situation {
  explored: Explored;
  actions: Actions;
  picture: Picture;
  order: ReadonlyMap<string, Point>;
  commands: Commands;
  openPath: () => void;
  hasKeys: boolean;
  toggleKeys: () => void;
}

export const handleKey = (event: KeyboardEvent, now: Situation): void => {
  const { explored, actions, commands } = now;
  const panel = (name: "impact" | "time") =>
    actions.change({ panel: explored.panel === name ? undefined : name, edge: undefined });
  const here = explored.selected ?? explored.node;
  const step = (to: string | undefined) => {
    if (to) actions.change({ selected: to }, "replace");
  };
  const byKey: Record<string, () => void> = {
    ArrowLeft: () => step(beside(now, here, "left")),
    ArrowRight: () => step(beside(now, here, "right")),
    ArrowUp: () => step(along(now, here, -1)),
    ArrowDown: () => step(along(now, here, 1)),
    "]": () => actions.change(grown(now)),
    "[": () => actions.change(explored.open.length ? { open: [], picked: [] } : { shut: ["up", "down"] }),
    e: () => actions.change({ columns: toggled(explored.columns, here) }),
    p: now.openPath,
    i: () => panel("impact"),
    t: () => panel("time"),
    d: () => actions.change({ versus: explored.versus ? undefined : instantAgo(86_400) }),
    v: () => actions.change({ lens: LENSES[explored.lens ? LENSES.indexOf(explored.lens) + 1 : 0] }, "replace"),
    l: commands.tidy,
    f: commands.fit,
    "?": now.toggleKeys,
    Escape: () => (now.hasKeys ? now.toggleKeys() : actions.change(cleared(explored))),
  };
  const action = byKey[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action || (event.key.startsWith("Arrow") && explored.view === "list")) return;
  event.preventDefault();
  action();
};

const cleared = (one: Explored): Partial<Explored> => {
  if (one.panel) return { panel: undefined, edge: undefined };
  if (one.pathTo) return { pathTo: undefined };
  if (one.focus) return { focus: undefined, influence: false };
  return { selected: undefined };
};

/** Open one more hop wherever the API reported more nodes. */
const grown = ({ explored, picture }: Situation): Partial<Explored> => {
  if (explored.shut.length) return { shut: [] };
  const more = picture.boxes.flatMap((box) =>
    (["up", "down"] as const).filter((side) => box.beyond[side] === "more").map((side) => ({ side, node: box.id })),
  );
  return { open: [...explored.open, ...more] };
};

const nearest = (ids: readonly string[], order: ReadonlyMap<string, Point>, from: string): string | undefined => {
  const y = order.get(from)?.y ?? 0;
  return ids.toSorted((a, b) => Math.abs((order.get(a)?.y ?? 0) - y) - Math.abs((order.get(b)?.y ?? 0) - y))[0];
};

const beside = ({ picture, order }: Situation, here: string, way: "left" | "right"): string | undefined =>
  nearest(
    picture.lines.flatMap((line) =>
      way === "left" ? (line.target === here ? [line.source] : []) : line.source === here ? [line.target] : [],
    ),
    order,
    here,
  );

const along = ({ picture, order }: Situation, here: string, by: 1 | -1): string | undefined => {
  const at = order.get(here);
  if (!at) return undefined;
  const layer = picture.boxes
    .map((box) => box.id)
    .filter((id) => Math.abs((order.get(id)?.x ?? Infinity) - at.x) < 40 && ((order.get(id)?.y ?? 0) - at.y) * by > 0);
  return nearest(layer, order, here);
};
