// What the API answers. Shapes are those of src/whence/api/shapes.py and query/catalog_document.py.

import { useEffect, useState, useSyncExternalStore } from "react";

export interface Transformation {
  type: string;
  subtype: string;
  masking: boolean;
  description: string;
}
export interface Said {
  time: string;
  event: string;
  position: number | null;
  producer: string;
}
export interface RunSeen {
  run: string;
  job: string;
  state: string;
  started_at: string | null;
  ended_at: string | null;
  said_at: string;
}
export interface Evidence {
  set: string;
  origin: string;
  reader: string | null;
  first_seen: Said;
  last_seen: Said;
  runs: RunSeen[];
}
export interface Edge {
  source: string;
  target: string;
  owner: string;
  transformations: Transformation[];
  origins: string[];
  inferred: boolean;
  confirmed: boolean;
  evidence: Evidence[];
}
export interface Reached {
  node: string;
  kind: string;
  depth: number;
  aliases: string[];
  parent: string | null;
  edge: number | null;
  via: Transformation | null;
  shown: boolean;
  more: boolean;
  direction?: string | null;
}
export interface Gap {
  at: string;
  owner: string;
  datasets: string[];
  reason: string;
}
export interface Extent {
  complete: boolean;
  stopped_by: string | null;
  depth_reached: number;
  frontier: string[];
  frontier_nodes: number;
  hidden_nodes: number;
  as_of: string | null;
  graph_version: string;
  forgotten_before: string | null;
}
export interface Page {
  total?: number;
  limit: number | null;
  next: string | null;
}
export interface Envelope<Data> {
  data: Data;
  extent: Extent | null;
  page: Page | null;
}
export interface Lineage {
  root: string;
  direction: string;
  grain: string;
  nodes: Reached[];
  edges: Edge[];
  gaps: Gap[];
}
export interface Path {
  steps: { source: string; target: string; edges: Edge[] }[];
  via: Transformation | null;
}
export interface Paths {
  source: string;
  target: string;
  paths: Path[];
}
export interface Affected {
  node: string;
  kind: string;
  distance: number;
  type: string;
  owners: string[];
  tier: string;
  path: string[];
}
export interface Impact {
  root: string;
  counts: {
    nodes: number;
    jobs: number;
    by_kind: Record<string, number>;
    by_type: Record<string, number>;
    by_owner: Record<string, number>;
    by_tier: Record<string, number>;
    by_distance: Record<string, number>;
  };
  nodes: Affected[];
}
export interface Found {
  text: string;
  complete: boolean;
  nodes: { node: string; kind: string }[];
}
export interface Change {
  change: "added" | "removed" | "changed";
  what: string;
  node: string | null;
  source?: string | null;
  target?: string | null;
  owner?: string | null;
  before: unknown;
  after: unknown;
}
export interface Diff {
  counts: Record<string, Record<string, number>>;
  changes: Change[];
}
export interface Version {
  kind: "lineage" | "schema";
  from: string;
  until: string | null;
  said_by: string;
  aspect: string;
  confirmed: boolean;
  run: RunSeen | null;
  event: Said | null;
  size: number;
  changes: Change[];
}
export interface History {
  node: string;
  kind: string;
  versions: Version[];
}
export interface Tag {
  key: string;
  value: string;
  field: string;
  source: string;
}
interface SaidOf {
  node: string;
  namespace: string;
  name: string;
  first_seen: string;
  last_seen: string;
  deleted: boolean;
  description: string | null;
  owners: { name: string; role: string }[];
  tags: Tag[];
  certification: string[];
  tier: number | null;
  facets: Record<string, unknown>;
}
export interface Dataset extends SaidOf {
  fields: { name: string; type: string; description: string }[];
  last_write: { run: string; job: string; time: string } | null;
}
export interface Run {
  run: string;
  job: string;
  state: string;
  started_at: string | null;
  ended_at: string | null;
  first_seen: string | null;
  last_seen: string | null;
  parent: { run: string; job: string } | null;
  inputs: { dataset: string; facets: Record<string, unknown> }[];
  outputs: { dataset: string; facets: Record<string, unknown> }[];
  error: string | null;
  facets: Record<string, unknown>;
}
export interface Job extends SaidOf {
  sql: { status: string; problems: string[] } | null;
  inputs: string[];
  outputs: string[];
  latest_runs: Run[];
}
export interface EventSaid {
  event: string;
  time: string;
  kind: string;
  state: string | null;
  producer: string;
  subject: string | null;
  /** Of a run. */
  job: string | null;
  payload?: unknown;
}
export interface Status {
  received: { records: number; bytes: number | null };
  waiting: { records: number; seconds: number };
  missing: number | null;
  store: {
    applied: number;
    duplicate: number;
    quarantined: number;
    runs_without_start: number;
    runs_without_end: number;
    quarantined_by_reason: Record<string, number>;
    producers: { producer: string; version: string; events: number; last_seen: number }[];
  } | null;
}

export interface RunOf {
  run: string;
  state: string;
  started_at: string | null;
  ended_at: string | null;
  error: string | null;
  commit: { version: string; url: string; branch: string } | null;
}
export interface Trouble {
  job: string;
  trouble: "failing" | "late";
  since: string;
  failures: number;
  longest_pause: number | null;
  last: RunOf | null;
  last_good: RunOf | null;
  outputs: string[];
  downstream: Record<string, number> | null;
}
export interface Troubles {
  jobs: Trouble[];
  failing: number;
  late: number;
  hidden: number;
}

/** A refusal, as the API puts it (RFC 9457). */
export class Problem extends Error {
  constructor(
    readonly status: number,
    reason: string,
    readonly candidates: string[] = [],
  ) {
    super(reason);
  }
}

type Values = Record<string, string | number | undefined | null>;

/** The address of a question, relative to any page of the UI. */
export const asked = (path: string, values: Values = {}): string => {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(values))
    if (value !== undefined && value !== null && value !== "") query.set(key, String(value));
  const text = query.toString();
  return `../api/v2/${path}${text ? `?${text}` : ""}`;
};

export const named = (kind: "datasets" | "jobs", namespace: string, name: string, rest = ""): string =>
  `../api/v2/${kind}/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}${rest}`;

const KEPT = 400;
const known = new Map<string, { at: number; answer: Promise<unknown> }>();
/** Milliseconds after which a board is asked again when somebody comes back to it. What a graph is made of stays, so that
 *  all of it is of one time. */
const AGED = 30_000;
const LASTING = /\/api\/v2\/(lineage|paths|traits|facts|impact)\b/;

let freshness = 0;
const refreshed = new Set<() => void>();
const hear = (listener: () => void): (() => void) => {
  refreshed.add(listener);
  return () => refreshed.delete(listener);
};

/** Forget all answers, and ask again for those that are on the screen. */
export const refresh = (): void => {
  known.clear();
  freshness += 1;
  refreshed.forEach((one) => one());
};

/** Until all that was asked since is answered. Throws a Problem if the server could not. */
export const settledAnswers = async (): Promise<void> => {
  let asked = -1;
  // An answer may be what another question waits for.
  while (asked !== known.size) {
    asked = known.size;
    await new Promise((done) => setTimeout(done, 50));
    for (const one of await Promise.allSettled([...known.values()].map(({ answer }) => answer)))
      if (one.status === "rejected" && isAway(one.reason)) throw one.reason;
  }
};

/** Whether an error says nothing of what was asked: the server was away, or in trouble. */
const isAway = (error: unknown): boolean => !(error instanceof Problem) || error.status === 0 || error.status >= 500;

/** Grows with each refresh. */
export const useFreshness = (): number => useSyncExternalStore(hear, () => freshness);

/** Told to the window when the API does not know any more who asks. */
export const SIGNED_OUT = "whence:signed-out";

/** `signal` gives the question up; of what is kept, nobody can. */
export const get = <Answer>(address: string, signal?: AbortSignal): Promise<Answer> => {
  const kept = known.get(address);
  if (kept && (LASTING.test(address) || Date.now() - kept.at < AGED)) return kept.answer as Promise<Answer>;
  const answer = fetched<Answer>(address, signal);
  known.set(address, { at: Date.now(), answer });
  answer.catch(() => known.get(address)?.answer === answer && known.delete(address));
  const oldest = known.size > KEPT ? known.keys().next().value : undefined;
  if (oldest !== undefined) known.delete(oldest);
  return answer;
};

const fetched = async <Answer>(address: string, signal?: AbortSignal): Promise<Answer> => {
  const response = await fetch(new URL(address, document.baseURI), {
    headers: { accept: "application/json" },
    signal: signal ?? null,
  });
  return read<Answer>(response);
};

/** The body of an answer. Throws a Problem. */
export const read = async <Answer>(response: Response): Promise<Answer> => {
  if (response.ok) {
    const text = await response.text();
    return (text ? JSON.parse(text) : null) as Answer;
  }
  const body = await response.json().catch(() => null);
  if (response.status === 401) window.dispatchEvent(new Event(SIGNED_OUT));
  // `detail` is the reason, behind the place in the body that it is about.
  throw new Problem(response.status, body?.detail ?? response.statusText, body?.candidates ?? []);
};

export interface Answered<Answer> {
  answer?: Answer;
  problem?: Problem;
  waiting: boolean;
}

/** The answers to several questions, in their order; what was answered before stays while others are waited for. */
export const useAnswers = <Answer>(addresses: readonly string[]): Answered<Answer>[] => {
  const key = addresses.join("\n");
  const fresh = useFreshness();
  const [held, setHeld] = useState<{ key: string; by: Map<string, Answered<Answer>> }>({ key: "", by: new Map() });
  useEffect(() => {
    let current = true;
    const list = key === "" ? [] : key.split("\n");
    void Promise.allSettled(list.map((one) => get<Answer>(one))).then((settled) => {
      if (!current) return;
      setHeld(({ by }) => ({
        key,
        by: new Map(settled.map((one, place) => [list[place]!, outcome(one, by.get(list[place]!))])),
      }));
    });
    return () => {
      current = false;
    };
  }, [key, fresh]);
  return addresses.map((address) => held.by.get(address) ?? { waiting: true });
};

let counted = 0;
const numbers = new WeakMap<object, number>();

/** Which answers these are: another text as soon as one is another. */
export const identity = (answers: readonly Answered<unknown>[]): string =>
  answers.map((one) => (one.waiting ? "w" : (numbers.get(one) ?? (numbers.set(one, ++counted), counted)))).join(" ");

/** What was answered before is kept where the server is away: its age is on the screen. */
const outcome = <Answer>(one: PromiseSettledResult<Answer>, before?: Answered<Answer>): Answered<Answer> => {
  if (one.status === "fulfilled") return { answer: one.value, waiting: false };
  if (before?.answer !== undefined && isAway(one.reason)) return before;
  const problem = one.reason instanceof Problem ? one.reason : new Problem(0, String(one.reason));
  return { problem, waiting: false };
};

export const useAnswer = <Answer>(address: string | null): Answered<Answer> => {
  const fresh = useFreshness();
  const [held, setHeld] = useState<Answered<Answer> & { of: string | null }>({ of: null, waiting: true });
  useEffect(() => {
    if (address === null) return;
    let current = true;
    void Promise.allSettled([get<Answer>(address)]).then(([one]) => {
      if (current) setHeld((held) => ({ ...outcome(one, held.of === address ? held : undefined), of: address }));
    });
    return () => {
      current = false;
    };
  }, [address, fresh]);
  return held.of === address ? held : { waiting: address !== null };
};
