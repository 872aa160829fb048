// The queries of an address, and the picture of their answers.

import { useMemo, useRef } from "react";
import {
  apiPath,
  identity,
  entryPath,
  useAnswers,
  useAnswer,
  type Answered,
  type Dataset,
  type Envelope,
  type Completeness,
  type Gap,
  type Lineage,
  type Paths,
  type Problem,
  type Traits,
} from "../api";
import { instantOf, type Explored, type Side } from "../address";
import { boxOf, parseName } from "../names";
import { fatedOf } from "../graph/changes";
import { MOST_AT_ONCE, picture, type Hop, type Picture, type Walked } from "../graph/model";
import { withWriters } from "../graph/writers";

const TRACED = 2_000;

interface Wanted {
  of: string;
  side: Side;
  address: string;
  then?: string;
}

export interface Seen {
  picture: Picture;
  waiting: boolean;
  problem?: Problem;
  extents: Completeness[];
  gaps: Gap[];
  noPath: boolean;
  /** The completeness of the trace of the column. */
  trace?: Completeness;
  /** The time compared with, in milliseconds. */
  since?: number;
}

const way = (side: Side): string => (side === "up" ? "upstream" : "downstream");

/** Of a hop that is too large to draw, a count is enough: "more than" so many, if counting would take long. */
const COUNTED = { limit: MOST_AT_ONCE + 1, max_nodes: 1_001 };
/** If some of it was picked, these have to be among what is read. */
const PICKED = { limit: 10_000, max_nodes: 20_000 };

const hopAddress = (node: string, side: Side, asOf: string | undefined, some: typeof COUNTED): string =>
  apiPath(`lineage/${way(side)}`, { node, depth: 1, as_of: asOf, ...some });

/** The hops that are open, in the order in which they were opened. */
export const openHops = (one: Explored): { side: Side; node: string }[] => {
  const first = (["up", "down"] as const)
    .filter((side) => !one.shut.includes(side))
    .map((side) => ({ side, node: one.node }));
  return [...first, ...one.open];
};

const wantedHops = (one: Explored): Wanted[] =>
  openHops(one).map(({ side, node }) => {
    const some = one.picked.length ? PICKED : COUNTED;
    const address = hopAddress(node, side, one.asOf, some);
    return { of: node, side, address, then: one.versus && hopAddress(node, side, one.versus, some) };
  });

const focusAddress = (one: Explored, asOf: string | undefined): string =>
  apiPath("lineage/both", { node: one.focus, limit: TRACED, types: one.influence ? "both" : undefined, as_of: asOf });

const walked = (one: Answered<Envelope<Lineage>> | undefined): Walked | undefined =>
  one?.answer && { data: one.answer.data, completeness: one.answer.completeness, total: one.answer.page?.total ?? 0 };

export const useSeen = (one: Explored): Seen => {
  const onPath = one.pathTo !== undefined;
  const hops = useMemo(() => (onPath ? [] : wantedHops(one)), [one, onPath]);
  const focused =
    one.focus && !onPath ? [focusAddress(one, one.asOf), ...(one.versus ? [focusAddress(one, one.versus)] : [])] : [];
  const addresses = [...hops.map((hop) => hop.address), ...hops.flatMap((hop) => hop.then ?? []), ...focused];
  const answers = useAnswers<Envelope<Lineage>>(addresses);
  const paths = usePaths(one);
  const key = identity(answers);
  const made = useMemo(() => {
    const at = new Map(addresses.map((address, place) => [address, walked(answers[place])]));
    const answeredHops: Hop[] = hops.flatMap((hop) => {
      const now = at.get(hop.address) ?? (hop.then && empty(hop.of));
      return now
        ? [{ of: hop.of, side: hop.side, now, then: hop.then ? (at.get(hop.then) ?? empty(hop.of)) : undefined }]
        : [];
    });
    const [now, then] = focused.map((address) => at.get(address));
    return {
      picture: picture({
        root: rootOf(answeredHops, one.node),
        hops: answeredHops,
        picked: new Set(one.picked),
        focus: now || then ? { now, then } : undefined,
        path: paths.answer?.data,
      }),
      extents: answers.flatMap((answer) => answer.answer?.completeness ?? []),
      gaps: [...at.values()].flatMap((one) => one?.data.gaps ?? []),
      trace: at.get(focused[0] ?? "")?.completeness ?? undefined,
      since: one.versus && !onPath ? compared(answeredHops, one.versus) : undefined,
    };
    // The picture depends only on the addresses and the keys of their answers.
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the addresses and which answers they have say all
  }, [addresses.join("\n"), key, paths.answer, one.node, one.picked.join("\n")]);
  const problems = answers.flatMap((answer) => answer.problem ?? []);
  // At one of two times, the node may not exist yet.
  const isOneSided = one.versus && problems.length < answers.length && problems.every((each) => each.status === 404);
  const problem = paths.problem ?? (isOneSided ? undefined : problems[0]);
  const waiting = answers.some((answer) => answer.waiting) || paths.waiting;
  // The previous picture is kept until all answers are loaded, so that nothing flickers.
  const last = useRef(made);
  if (!waiting) last.current = made;
  return {
    ...last.current,
    extents: paths.answer?.completeness ? [paths.answer.completeness] : last.current.extents,
    waiting,
    problem,
    noPath: onPath && paths.answer?.data.paths.length === 0,
  };
};

/** The time of comparison: as resolved by the API, else as in the address. */
const compared = (hops: readonly Hop[], versus: string): number => {
  const reported = hops.map((hop) => hop.then?.completeness?.as_of).find(Boolean);
  return reported ? Date.parse(reported) : instantOf(versus);
};

/** The empty answer for a node at a time before it existed. */
const empty = (root: string): Walked => ({
  data: { root, direction: "", grain: "", types: [], dropped_at: null, nodes: [], edges: [], gaps: [] },
  completeness: null,
  total: 1,
});

// The API may answer under another name of the root.
const rootOf = (hops: readonly Hop[], requested: string): string => {
  const first = hops.find((hop) => hop.of === requested);
  return first ? boxOf(first.now.data.root) : requested;
};

/** The paths between two nodes, whichever way they lead. */
const usePaths = (one: Explored): Answered<Envelope<Paths>> => {
  const source = one.focus ?? one.node;
  const address = (from: string, to: string) =>
    apiPath("paths", { source: from, target: to, limit: 20, types: "both", as_of: one.asOf });
  const forth = useAnswer<Envelope<Paths>>(one.pathTo ? address(source, one.pathTo) : null);
  const isEmpty = forth.answer?.data.paths.length === 0;
  const back = useAnswer<Envelope<Paths>>(one.pathTo && isEmpty ? address(one.pathTo, source) : null);
  if (!one.pathTo) return { waiting: false };
  return isEmpty ? { ...back, answer: back.answer ?? undefined } : forth;
};

/** Adds the writer of each box and the marks of a comparison. The previous picture is kept until they are loaded, so
 *  that no box grows under the pointer. */
export const useKnown = (seen: Seen, traits: ReadonlyMap<string, Traits> | undefined): Seen => {
  const { picture: plain, since } = seen;
  const made = useMemo(() => {
    if (!traits) return undefined;
    const written = withWriters(plain, traits);
    return since === undefined ? written : fatedOf(written, traits, since);
  }, [plain, since, traits]);
  const last = useRef(made);
  if (made) last.current = made;
  return { ...seen, picture: last.current ?? plain, waiting: seen.waiting || !made };
};

/** The columns of the unfolded boxes, from their schemas. */
export const useColumns = (boxes: readonly string[]): Map<string, Answered<{ data: Dataset }>> => {
  const datasets = boxes.filter((id) => parseName(id).kind === "dataset");
  const answers = useAnswers<{ data: Dataset }>(
    datasets.map((id) => {
      const { namespace, name } = parseName(id);
      return entryPath("datasets", namespace, name);
    }),
  );
  return new Map(datasets.map((id, place) => [id, answers[place] ?? { waiting: true }]));
};
