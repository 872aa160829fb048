// Texts of the home page.

import { counted } from "./counted";

export const home = {
  title: "Where did this number come from?",
  failing: "Failing jobs",
  failingNone: "No job is failing.",
  running: "Running now",
  runningNone: "Nothing is running.",
  changed: "Changed in the last 24 hours",
  changedNone: "No lineage changed in the last 24 hours.",
  late: "Late jobs",
  lateNone: "No job is late.",
  lateSince: "expected",
  latest: "Latest runs",
  of: (events: number) => `Only runs among the latest ${counted(events, "event", "events")} are listed here.`,
  started: "started",
  allChanges: (count: number) => `${counted(count, "change", "changes")} in all`,
  tiles: {
    events: "Events in the graph",
    waiting: "Events waiting",
    quarantined: "Events rejected",
    missing: "Events lost",
    eventsOf: "accepted and applied, duplicates not counted",
    waitingOf: (seconds: number) =>
      seconds > 0 ? `the oldest for ${Math.ceil(seconds)} s` : "the graph is up to date",
    quarantinedOf: "kept in quarantine with the reason",
    missingOf: "in the log but not accounted for; must be 0",
  },
  changes: { added: "added", removed: "removed", changed: "changed" } as Record<string, string>,
  whats: {
    dataset: (count) => counted(count, "dataset", "datasets"),
    field: (count) => counted(count, "column", "columns"),
    job: (count) => counted(count, "job", "jobs"),
    edge: (count) => counted(count, "edge", "edges"),
  } as Record<string, (count: number) => string>,
};
