// Builds the picture, its boxes and lines, from answers. Pure; independent of positions.

import type { Edge, Completeness, Lineage, Paths, Reached, RunSeen } from "../api";
import { boxOf, isHidden, parseName, type Kind } from "../names";
import type { Side } from "../address";

export type Flow = "direct" | "indirect" | "inferred";
/** The change of a box or line between two times. `connected`: it existed before and is new in this picture;
 *  `disconnected`: it still exists and left the picture; `changed`: its incoming edges differ. */
export type Fate = "added" | "connected" | "changed" | "disconnected" | "removed";
/** The one of two pictures that contains something, if not both. */
export type Only = "now" | "then";

/** `more`: the API reported more nodes beyond; `none`: it reported none; `unknown`: not requested. */
export type Beyond = "open" | "more" | "none" | "unknown";

export interface Box {
  id: string;
  kind: Kind;
  /** Columns that lines are drawn from and to. */
  traced: string[];
  beyond: Record<Side, Beyond>;
  writer?: string;
  run?: RunSeen;
  /** It is a job that only checks data. */
  isCheck?: boolean;
  only?: Only;
  fate?: Fate;
  faded: boolean;
}

/** Neighbours too many to draw. */
export interface Stub {
  id: string;
  of: string;
  side: Side;
  count: number;
  atLeast: boolean;
}

export interface Line {
  id: string;
  /** The ends as the API names them: fields, if the line is between columns. */
  from: string;
  to: string;
  source: string;
  target: string;
  sourceField?: string;
  targetField?: string;
  flow: Flow;
  edges: Edge[];
  only?: Only;
  fate?: Fate;
  faded: boolean;
}

export interface Picture {
  boxes: Box[];
  stubs: Stub[];
  lines: Line[];
}

/** The answer for one hop from a box: now, and at the time of comparison. */
export interface Hop {
  of: string;
  side: Side;
  now: Walked;
  then?: Walked;
}
export interface Walked {
  data: Lineage;
  completeness: Completeness | null;
  total: number;
}

export interface Answers {
  root: string;
  hops: readonly Hop[];
  picked: ReadonlySet<string>;
  focus?: { now?: Walked; then?: Walked };
  path?: Paths;
}

/** A hop of more boxes than this is one stub with a count. */
export const MOST_AT_ONCE = 25;

export const stubId = (of: string, side: Side): string => `stub:${side}:${of}`;

export const flowOf = (edges: readonly Edge[]): Flow => {
  if (edges.every((edge) => edge.inferred)) return "inferred";
  const reported = edges.filter((edge) => !edge.inferred);
  return reported.some((edge) => edge.transformations.some((one) => one.type !== "INDIRECT")) ? "direct" : "indirect";
};

/** The jobs that a line comes from. */
export const writersOf = (line: Line): string[] => [
  ...new Set(line.edges.map((edge) => edge.owner).filter((owner) => parseName(owner).kind === "job")),
];

interface Draft {
  boxes: Map<string, Box>;
  stubs: Stub[];
  lines: Map<string, Line>;
  then: Set<string>;
  now: Set<string>;
}

export const picture = (answers: Answers): Picture => {
  const draft: Draft = { boxes: new Map(), stubs: [], lines: new Map(), then: new Set(), now: new Set() };
  if (answers.path) return drawn(onPaths(draft, answers.path));
  box(draft, answers.root);
  const compared = answers.hops.some((hop) => hop.then);
  for (const hop of answers.hops) addHop(draft, hop, answers.picked);
  if (answers.focus) addFocus(draft, answers.focus);
  if (compared) markOnly(draft, answers.root);
  return drawn(draft);
};

const drawn = ({ boxes, stubs, lines }: Draft): Picture => ({
  boxes: [...boxes.values()],
  stubs,
  lines: [...lines.values()],
});

const box = (draft: Draft, id: string): Box => {
  const known = draft.boxes.get(id);
  if (known) return known;
  const made: Box = {
    id,
    kind: parseName(id).kind,
    traced: [],
    beyond: isHidden(id) ? { up: "none", down: "none" } : { up: "unknown", down: "unknown" },
    faded: false,
  };
  draft.boxes.set(id, made);
  return made;
};

const others = (walked: Walked): Reached[] => walked.data.nodes.filter((one) => one.depth > 0);

const addHop = (draft: Draft, hop: Hop, picked: ReadonlySet<string>): void => {
  const root = box(draft, boxOf(hop.now.data.root));
  root.beyond[hop.side] = hop.now.total > 1 || (hop.then?.total ?? 0) > 1 ? "open" : "none";
  const count = Math.max(hop.now.total, hop.then?.total ?? 0) - 1;
  const all = count <= MOST_AT_ONCE;
  if (!all)
    draft.stubs.push({
      id: stubId(root.id, hop.side),
      of: root.id,
      side: hop.side,
      count,
      atLeast: hop.now.completeness?.stopped_by === "nodes",
    });
  for (const [walked, seen] of [
    [hop.now, draft.now],
    [hop.then, draft.then],
  ] as const) {
    if (!walked) continue;
    const reached = others(walked).filter((one) => all || picked.has(one.node));
    for (const one of reached) neighbour(draft, one, hop.side);
    const wanted = new Set(reached.map((one) => one.node));
    for (const edge of walked.data.edges) {
      const [source, target] = [boxOf(edge.source), boxOf(edge.target)];
      if ([source, target].every((end) => end === root.id || wanted.has(end)))
        addLine(draft, edge, source, target, seen);
    }
  }
};

const neighbour = (draft: Draft, reached: Reached, side: Side): void => {
  const one = box(draft, reached.node);
  if (reached.role === "check") one.isCheck = true;
  if (one.beyond[side] === "unknown") one.beyond[side] = reached.more ? "more" : "none";
};

const addLine = (
  draft: Draft,
  edge: Edge,
  source: string,
  target: string,
  seen: Set<string>,
  columns = false,
): void => {
  if (source === target && !columns) return;
  const [from, to] = columns ? [edge.source, edge.target] : [source, target];
  const id = `${from} ${to}`;
  const line: Line = draft.lines.get(id) ?? {
    ...between(from, to),
    id,
    source,
    target,
    flow: "direct",
    edges: [],
    faded: false,
  };
  if (!line.edges.some((one) => one.owner === edge.owner && one.source === edge.source && one.target === edge.target))
    line.edges.push(edge);
  line.flow = flowOf(line.edges);
  draft.lines.set(id, line);
  seen.add(id);
  tellWriter(box(draft, target), edge);
  box(draft, source);
};

const between = (from: string, to: string) => ({
  from,
  to,
  sourceField: parseName(from).field,
  targetField: parseName(to).field,
});

const tellWriter = (target: Box, edge: Edge): void => {
  if (parseName(edge.owner).kind !== "job" || target.kind === "job") return;
  const run = edge.evidence.flatMap((one) => one.runs).reduce<RunSeen | undefined>(later, target.run);
  target.writer ??= edge.owner;
  if (run) [target.run, target.writer] = [run, run.job];
};

const later = (known: RunSeen | undefined, one: RunSeen): RunSeen =>
  known && known.said_at >= one.said_at ? known : one;

/** The trace of one column: its lines column by column, everything else faded. */
const addFocus = (draft: Draft, focus: { now?: Walked; then?: Walked }): void => {
  for (const one of draft.boxes.values()) one.faded = true;
  for (const line of draft.lines.values()) line.faded = true;
  for (const [walked, seen] of [
    [focus.now, draft.now],
    [focus.then, draft.then],
  ] as const) {
    for (const { node } of walked?.data.nodes ?? []) light(draft, node);
    for (const edge of walked?.data.edges ?? []) {
      const [source, target] = [light(draft, edge.source), light(draft, edge.target)];
      addLine(draft, edge, source, target, seen, true);
      // The line between the two boxes is redundant beside the lines of the columns.
      draft.lines.delete(`${source} ${target}`);
    }
  }
};

const light = (draft: Draft, node: string): string => {
  const one = box(draft, boxOf(node));
  const { field } = parseName(node);
  one.faded = false;
  if (field !== undefined && !one.traced.includes(field)) one.traced.push(field);
  return one.id;
};

const onPaths = (draft: Draft, paths: Paths): Draft => {
  light(draft, paths.source);
  light(draft, paths.target);
  for (const step of paths.paths.flatMap((one) => one.steps)) {
    light(draft, step.source);
    light(draft, step.target);
    for (const edge of step.edges) {
      addLine(
        draft,
        edge,
        boxOf(edge.source),
        boxOf(edge.target),
        draft.now,
        parseName(step.source).kind === "field" || parseName(step.target).kind === "field",
      );
    }
  }
  return draft;
};

const markOnly = (draft: Draft, root: string): void => {
  const only = (now: boolean, then: boolean): Only | undefined => (now === then ? undefined : now ? "now" : "then");
  const ends = (seen: Set<string>) =>
    new Set(
      [...seen].flatMap((id) => {
        const line = draft.lines.get(id);
        return line ? [line.source, line.target] : [];
      }),
    );
  const [now, then] = [ends(draft.now), ends(draft.then)];
  for (const line of draft.lines.values()) line.only = only(draft.now.has(line.id), draft.then.has(line.id));
  for (const one of draft.boxes.values()) if (one.id !== root) one.only = only(now.has(one.id), then.has(one.id));
};
