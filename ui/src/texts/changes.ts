// Texts of the page of what changed upstream.

import { counted } from "./counted";

/** As much as one question searches. */
const MOST = { runs: "10,000", checked: "500" };

export const changes = {
  open: "What changed upstream",
  about: (node: string) =>
    `What changed at ${node} and upstream of it, the newest first. What happened first is the first suspect.`,
  period: "Period",
  periods: [
    ["24h", "24 hours"],
    ["7d", "7 days"],
    ["30d", "30 days"],
    ["90d", "90 days"],
  ] as const,
  kinds: {
    schema: "Schema",
    lineage: "Lineage",
    contract: "Contract",
    objective: "Objective",
    quality: "Check",
    run: "Run",
    code: "Code",
    owners: "Owners",
  } as Record<string, string>,
  onlyKind: "Show only",
  what: {
    column: { added: "is new", removed: "is gone", changed: "has another type", renamed: "has another name" },
    schema: {
      added: "has new columns",
      removed: "lost columns",
      changed: "has other columns",
      renamed: "has other names of columns",
    },
    lineage: { added: "has new inputs", removed: "lost inputs", changed: "has other inputs", renamed: "was renamed" },
    contract: {
      added: "has a contract",
      removed: "has no contract any more",
      changed: "has another version of its contract",
      violated: "began to violate its contract",
      fulfilled: "no longer violates its contract",
    },
    objective: { violated: "began to miss an objective", fulfilled: "meets its objective again" },
    quality: { failed: "began to fail a check", recovered: "passes its check again" },
    code: { changed: "ran another version of its code" },
    owners: { added: "has an owner", removed: "has no owner any more", changed: "has other owners" },
    run: { failed: "began to fail", recovered: "completed again" },
  } as Record<string, Record<string, string>>,
  hops: (count: number) => (count ? `${counted(count, "hop", "hops")} upstream` : "here"),
  all: "whole dataset",
  was: (name: string) => `was ${name}`,
  seeGraph: "Compare the graph",
  when: (time: string) => `Compare the graph with that before ${time}`,
  none: "Nothing changed in this period that anybody reported.",
  noneOf: "No change of this kind.",
  searched: (datasets: number, jobs: number) =>
    `Searched ${counted(datasets, "dataset", "datasets")} and ${counted(jobs, "job", "jobs")}.`,
  asOf: (time: string) => `as of ${time}`,
  now: "show now",
  from: (since: string, until: string) => `${since} to ${until}`,
  notKnown: "What is not known",
  unknown: {
    hidden: (count: number) => `Changes of ${counted(count, "node", "nodes")} upstream that you may not see.`,
    "no column lineage": (count: number) =>
      `Column lineage ends at ${counted(count, "node", "nodes")}: changes before are not in this list.`,
    "no schema": (count: number) => `Nobody reports the columns of ${counted(count, "node", "nodes")}.`,
    "checks withheld": () => "Checks: they are shown to who may read all namespaces.",
    "older checks": () => `Checks of runs before the latest ${MOST.checked}.`,
    "older contract evaluations": (count: number) =>
      `Contracts of ${counted(count, "node", "nodes")} were not evaluated for the whole period.`,
    "older commits": (count: number) => `All versions of the code of ${counted(count, "job", "jobs")}.`,
    "older owners": (count: number) => `All owners of ${counted(count, "node", "nodes")}.`,
    "older runs": () => `Failures before the latest ${MOST.runs} runs.`,
  } as Record<string, (count: number) => string>,
  andMore: (count: number) => `and ${count.toLocaleString("en")} more`,
};
