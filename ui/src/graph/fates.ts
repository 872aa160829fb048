// What happened to boxes and lines between two times. Pure; imports types alone.

import type { Box, Fate, Line, Picture } from "./model";

/** What must be known of a box to say what happened to it. */
export interface Lived {
  first_seen: string | null;
  deleted: boolean;
}

/** The picture with what happened to each box and line since a time (in milliseconds). */
export const fatedOf = (
  { boxes, stubs, lines }: Picture,
  known: Iterable<readonly [string, Lived]>,
  since: number,
): Picture => {
  const lived = new Map(known);
  const told = lines.map((line) => ({ ...line, fate: lineFate(line, since) }));
  const changed = new Set(told.flatMap((line) => (line.fate && line.source !== line.target ? [line.target] : [])));
  return { stubs, lines: told, boxes: boxes.map((box) => ({ ...box, fate: boxFate(box, lived, since, changed) })) };
};

const lineFate = (line: Line, since: number): Fate | undefined => {
  if (line.only !== "now") return line.only && "removed";
  const said = line.edges.flatMap((edge) => edge.evidence.map((one) => Date.parse(one.first_seen.time)));
  return Math.min(...said) > since ? "added" : "connected";
};

const boxFate = (
  box: Box,
  lived: ReadonlyMap<string, Lived>,
  since: number,
  changed: ReadonlySet<string>,
): Fate | undefined => {
  const known = lived.get(box.id);
  if (box.only === "then") return known?.deleted ? "removed" : "disconnected";
  if (known?.first_seen && Date.parse(known.first_seen) > since) return "added";
  if (box.only === "now") return "connected";
  return changed.has(box.id) ? "changed" : undefined;
};
