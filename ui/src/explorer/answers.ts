// Which questions an address asks, and the picture that their answers make.

import { useMemo, useRef } from "react";
import {
  asked,
  identity,
  named,
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
import { fatedOf } from "../graph/fates";
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
  /** How much of the traced column's way is known. */
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
  asked(`lineage/${way(side)}`, { node, depth: 1, as_of: asOf, ...some });

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
  asked("lineage/both", { node: one.focus, limit: TRACED, types: one.influence ? "both" : undefined, as_of: asOf });

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
    const told: Hop[] = hops.flatMap((hop) => {
      const now = at.get(hop.address) ?? (hop.then && empty(hop.of));
      return now
        ? [{ of: hop.of, side: hop.side, now, then: hop.then ? (at.get(hop.then) ?? empty(hop.of)) : undefined }]
        : [];
    });
    const [now, then] = focused.map((address) => at.get(address));
    return {
      picture: picture({
        root: rootOf(told, one.node),
        hops: told,
        picked: new Set(one.picked),
        focus: now || then ? { now, then } : undefined,
        path: paths.answer?.data,
      }),
      extents: answers.flatMap((answer) => answer.answer?.completeness ?? []),
      gaps: focused.flatMap((address) => at.get(address)?.data.gaps ?? []),
      trace: at.get(focused[0] ?? "")?.completeness ?? undefined,
      since: one.versus && !onPath ? compared(told, one.versus) : undefined,
    };
    // The addresses and which answers they have say all that the picture depends on.
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the addresses and which answers they have say all
  }, [addresses.join("\n"), key, paths.answer, one.node, one.picked.join("\n")]);
  const problems = answers.flatMap((answer) => answer.problem ?? []);
  // Of two times, one may not know the node yet.
  const isOneSided = one.versus && problems.length < answers.length && problems.every((each) => each.status === 404);
  const problem = paths.problem ?? (isOneSided ? undefined : problems[0]);
  const waiting = answers.some((answer) => answer.waiting) || paths.waiting;
  // Until all answers are there, what was seen last stays, so that nothing flickers.
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

/** When it is compared with: as the API understood it, else as the address has it. */
const compared = (hops: readonly Hop[], versus: string): number => {
  const said = hops.map((hop) => hop.then?.completeness?.as_of).find(Boolean);
  return said ? Date.parse(said) : instantOf(versus);
};

/** What there is of a node at a time at which it was not yet there. */
const empty = (root: string): Walked => ({
  data: { root, direction: "", grain: "", types: [], dropped_at: null, nodes: [], edges: [], gaps: [] },
  completeness: null,
  total: 1,
});

// The API may know the root by another of its names.
const rootOf = (hops: readonly Hop[], asked: string): string => {
  const first = hops.find((hop) => hop.of === asked);
  return first ? boxOf(first.now.data.root) : asked;
};

/** The paths between two nodes, whichever way they lead. */
const usePaths = (one: Explored): Answered<Envelope<Paths>> => {
  const source = one.focus ?? one.node;
  const address = (from: string, to: string) =>
    asked("paths", { source: from, target: to, limit: 20, types: "both", as_of: one.asOf });
  const forth = useAnswer<Envelope<Paths>>(one.pathTo ? address(source, one.pathTo) : null);
  const isEmpty = forth.answer?.data.paths.length === 0;
  const back = useAnswer<Envelope<Paths>>(one.pathTo && isEmpty ? address(one.pathTo, source) : null);
  if (!one.pathTo) return { waiting: false };
  return isEmpty ? { ...back, answer: back.answer ?? undefined } : forth;
};

/** With what is known of each box: who writes it, and the marks of a comparison. Until it is known, what was drawn last
 *  stays, so that no box grows under the pointer. */
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

/** The columns of the unfolded boxes, as their schemas tell them. */
export const useColumns = (boxes: readonly string[]): Map<string, Answered<{ data: Dataset }>> => {
  const datasets = boxes.filter((id) => parseName(id).kind === "dataset");
  const answers = useAnswers<{ data: Dataset }>(
    datasets.map((id) => {
      const { namespace, name } = parseName(id);
      return named("datasets", namespace, name);
    }),
  );
  return new Map(datasets.map((id, place) => [id, answers[place] ?? { waiting: true }]));
};
