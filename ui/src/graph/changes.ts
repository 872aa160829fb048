// Changes of boxes and lines between two times. Pure; imports only types.

import type { Box, Fate, Line, Picture } from "./model";

/** The facts about a box that determine its change. */
export interface Lived {
  first_seen: string | null;
  deleted: boolean;
}

/** The picture with the change of each box and line since a time (in milliseconds). */
export const fatedOf = (
  { boxes, stubs, lines }: Picture,
  known: Iterable<readonly [string, Lived]>,
  since: number,
): Picture => {
  const lived = new Map(known);
  const withFates = lines.map((line) => ({ ...line, fate: lineFate(line, since) }));
  const changed = new Set(withFates.flatMap((line) => (line.fate && line.source !== line.target ? [line.target] : [])));
  return {
    stubs,
    lines: withFates,
    boxes: boxes.map((box) => ({ ...box, fate: boxFate(box, lived, since, changed) })),
  };
};

const lineFate = (line: Line, since: number): Fate | undefined => {
  if (line.only !== "now") return line.only && "removed";
  const times = line.edges.flatMap((edge) => edge.evidence.map((one) => Date.parse(one.first_seen.time)));
  return Math.min(...times) > since ? "added" : "connected";
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
