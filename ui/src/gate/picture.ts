// The picture of a verdict: changes on the left, what they affect to the right, a column for each hop.

import type { AffectedRecord, ChangeRecord, VerdictRecord } from "../api";
import { boxOf } from "../names";

export const HIDDEN = "(hidden)";
export const BOX = { width: 210, height: 46, gapX: 76, gapY: 14 };
const MOST_BOXES = 60;

export interface PictureBox {
  id: string;
  x: number;
  y: number;
  changes: readonly ChangeRecord[];
  hit?: AffectedRecord;
}
export interface PictureLine {
  from: PictureBox;
  to: PictureBox;
  /** The surest way by which something gets along here. */
  by: string;
}
export interface Picture {
  boxes: readonly PictureBox[];
  lines: readonly PictureLine[];
  width: number;
  height: number;
  /** Affected nodes that have no box. */
  left: number;
}

/** A dataset or job; each hidden node on a way is one of its own. */
const boxId = (node: string, at: string): string => (node === HIDDEN ? `${HIDDEN} ${at}` : boxOf(node));

interface Pair {
  from: string;
  to: string;
  by: string;
}

/** What leads or is near comes first, as in the record. Nothing is drawn twice. */
export const pictureOf = (verdict: VerdictRecord): Picture => {
  const shown = new Set<string>();
  const pairs = new Map<string, Pair>();
  for (const change of verdict.changes) if (shown.size < MOST_BOXES) shown.add(boxId(change.node, ""));
  let left = 0;
  for (const hit of verdict.affected) {
    const way = hit.path.map((node, at) => boxId(node, hit.path.slice(at).join(">")));
    if (shown.size + way.filter((id) => !shown.has(id)).length > MOST_BOXES) {
      left += 1;
      continue;
    }
    way.forEach((id, at) => {
      shown.add(id);
      const from = way[at - 1];
      if (from && from !== id) pairs.set(`${from}>${id}`, { from, to: id, by: hit.by });
    });
  }
  const known = [...pairs.values()];
  return arrange(verdict, layersOf(shown, known), known, left);
};

/** The column of each box: one more than that of everything before it. A cycle ends after as many rounds as there are
 *  boxes. */
const layersOf = (shown: ReadonlySet<string>, pairs: readonly Pair[]): ReadonlyMap<string, number> => {
  const layers = new Map([...shown].map((id) => [id, 0]));
  const at = (id: string): number => layers.get(id) ?? 0;
  for (let round = 0; round < shown.size; round += 1) {
    const late = pairs.filter(({ from, to }) => at(to) <= at(from) && at(from) < shown.size);
    if (!late.length) break;
    for (const { from, to } of late) layers.set(to, at(from) + 1);
  }
  return layers;
};

const arrange = (
  verdict: VerdictRecord,
  layers: ReadonlyMap<string, number>,
  pairs: readonly Pair[],
  left: number,
): Picture => {
  const filled = new Map<number, number>();
  const boxes = [...layers].map(([id, layer]): PictureBox => {
    const row = filled.get(layer) ?? 0;
    filled.set(layer, row + 1);
    return {
      id,
      x: layer * (BOX.width + BOX.gapX),
      y: row * (BOX.height + BOX.gapY),
      changes: verdict.changes.filter((one) => boxId(one.node, "") === id),
      hit: verdict.affected.find((one) => boxOf(one.node) === id),
    };
  });
  const byId = new Map(boxes.map((one) => [one.id, one]));
  const lines = pairs.flatMap(({ from, to, by }) => {
    const [source, target] = [byId.get(from), byId.get(to)];
    return source && target ? [{ from: source, to: target, by }] : [];
  });
  const width = Math.max(0, ...boxes.map((one) => one.x + BOX.width));
  const height = Math.max(0, ...boxes.map((one) => one.y + BOX.height));
  return { boxes, lines, width, height, left };
};
