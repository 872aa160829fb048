// The address is the whole state: the page, its subject, the open hops, the time.

import { useSyncExternalStore } from "react";
import { boxOf } from "./names";

export type Page =
  | "home"
  | "lineage"
  | "node"
  | "changes"
  | "run"
  | "board"
  | "gates"
  | "verdict"
  | "slos"
  | "slo"
  | "incidents"
  | "incident"
  | "admin"
  | "unknown";
export type Side = "up" | "down";
export const LENSES = [
  ...(["run", "fresh", "quality", "health", "tags", "owner", "change", "column"] as const),
  ...(["pii", "phi", "financial", "sensitive"] as const),
] as const;
export type Lens = (typeof LENSES)[number];
export type Panel = "impact" | "edge" | "time" | "about" | "label";

export interface Explored {
  node: string;
  /** Hops opened beyond the first ones: `up` or `down` of a box. */
  open: readonly { side: Side; node: string }[];
  /** First hops that are closed. */
  shut: readonly Side[];
  /** Boxes picked out of a counted stub. */
  picked: readonly string[];
  /** Boxes whose columns are unfolded. */
  columns: readonly string[];
  focus?: string;
  /** With filters and joins on the way to the focused column. */
  influence: boolean;
  pathTo?: string;
  selected?: string;
  edge?: { source: string; target: string };
  asOf?: string;
  versus?: string;
  view: "graph" | "list";
  panel?: Panel;
  /** The lens that colours the boxes. */
  lens?: Lens;
}

export interface Where {
  page: Page;
  query: URLSearchParams;
}

const listeners = new Set<() => void>();
const notifyListeners = (): void => listeners.forEach((one) => one());
window.addEventListener("popstate", notifyListeners);

const listen = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

const PAGES: readonly Page[] = [
  "home",
  "lineage",
  "node",
  "changes",
  "run",
  "board",
  "gates",
  "verdict",
  "slos",
  "slo",
  "incidents",
  "incident",
  "admin",
];

export const useWhere = (): Where => {
  const href = useSyncExternalStore(listen, () => window.location.pathname + window.location.search);
  const url = new URL(href, window.location.origin);
  const last = url.pathname.slice(url.pathname.lastIndexOf("/") + 1) || "home";
  return { page: PAGES.find((one) => one === last) ?? "unknown", query: url.searchParams };
};

export const go = (to: string, how: "push" | "replace" = "push"): void => {
  window.history[how === "push" ? "pushState" : "replaceState"](null, "", to);
  notifyListeners();
  if (how === "push" && !scrollTo(window.location.hash.slice(1))) window.scrollTo(0, 0);
};

/** Bring a part of the page into sight, as soon as it is rendered. */
const scrollTo = (part: string): boolean => {
  if (part) requestAnimationFrame(() => document.getElementById(part)?.scrollIntoView({ block: "start" }));
  return part !== "";
};

export const pageAddress = (page: Exclude<Page, "home" | "unknown">, values: Record<string, string>): string =>
  `./${page}?${new URLSearchParams(values)}`;

/** The page of a node, now or at a time. */
export const nodeAddress = (node: string, asOf?: string): string =>
  pageAddress("node", { node, ...(asOf ? { as_of: asOf } : {}) });

/** A time in the past as an absolute time, for the address. */
export const instantAgo = (seconds: number): string =>
  new Date(Date.now() - seconds * 1_000).toISOString().slice(0, 19);

const UNITS: Record<string, number> = { s: 1, m: 60, min: 60, h: 3_600, d: 86_400, w: 604_800 };

/** An instant of the address (`2026-11-20T06:00`, `12h ago`) in milliseconds; NaN if it is neither. */
export const instantOf = (text: string): number => {
  const ago = /^(\d+)\s*(min|[smhdw])(\s+ago)?$/.exec(text.trim());
  if (ago) return Date.now() - Number(ago[1]) * (UNITS[ago[2]!] ?? 0) * 1_000;
  return Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}${text.includes("T") ? "" : "T00:00"}Z`);
};

export const lineageAddress = (node: string): string => explorerAddress(fresh(node));

/** The first view of a node: a field is focused in its dataset. */
export const fresh = (node: string): Explored => ({
  node: boxOf(node),
  open: [],
  shut: [],
  picked: [],
  columns: [],
  influence: false,
  view: "graph",
  ...(boxOf(node) === node ? {} : { focus: node }),
});

export const explorerAddress = (one: Explored): string => {
  const query = new URLSearchParams({ node: one.node });
  for (const { side, node } of one.open) query.append(side, node);
  for (const side of one.shut) query.append("shut", side);
  for (const node of one.picked) query.append("pick", node);
  for (const node of one.columns) query.append("columns", node);
  const single: [string, string | undefined][] = [
    ["col", one.focus],
    ["with", one.influence ? "influence" : undefined],
    ["path_to", one.pathTo],
    ["at", one.selected],
    ["from", one.edge?.source],
    ["to", one.edge?.target],
    ["as_of", one.asOf],
    ["vs", one.versus],
    ["view", one.view === "list" ? "list" : undefined],
    ["panel", one.panel],
    ["lens", one.lens],
  ];
  for (const [key, value] of single) if (value) query.set(key, value);
  return `./lineage?${query}`;
};

const PANELS: readonly Panel[] = ["impact", "edge", "time", "about", "label"];

export const explored = (query: URLSearchParams): Explored => {
  const side = (name: Side) => query.getAll(name).map((node) => ({ side: name, node }));
  const [source, target] = [query.get("from"), query.get("to")];
  return {
    node: query.get("node") ?? "",
    open: [...side("up"), ...side("down")],
    shut: (["up", "down"] as const).filter((one) => query.getAll("shut").includes(one)),
    picked: query.getAll("pick"),
    columns: query.getAll("columns"),
    focus: query.get("col") ?? undefined,
    influence: query.get("with") === "influence",
    pathTo: query.get("path_to") ?? undefined,
    selected: query.get("at") ?? undefined,
    edge: source && target ? { source, target } : undefined,
    asOf: query.get("as_of") ?? undefined,
    versus: query.get("vs") ?? undefined,
    view: query.get("view") === "list" ? "list" : "graph",
    panel: PANELS.find((one) => one === query.get("panel")),
    lens: LENSES.find((one) => one === query.get("lens")),
  };
};
