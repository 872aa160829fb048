// Texts of all pages: the search, names of kinds, states and times, problems.

import { counted } from "./counted";

export const general = {
  name: "Whence",
  tagline: "Trace a column to its raw sources, and see what breaks if it changes.",
  skip: "Skip to content",
  search: {
    open: "Search datasets, columns and jobs",
    short: "Search",
    placeholder: "Name of a dataset, column or job",
    hint: "Try gold.features, churn_probability, a job, certified:true, or label:pii>=partial",
    pathHint: "Choose where the path leads",
    kinds: "What to look for",
    all: "All",
    only: { dataset: "Datasets", field: "Columns", job: "Jobs" } as Record<string, string>,
    noneOf: { "": "Nothing", dataset: "No dataset", field: "No column", job: "No job" } as Record<string, string>,
    none: (who: string, text: string) => `${who} is found by “${text}”.`,
    more: "There is more. Type more of the name.",
    failed: "The search failed",
    keys: "↑ ↓ to choose · Enter to open · Esc to close",
    waiting: "Searching…",
    results: "Results",
  },
  hidden: {
    names: { dataset: "Hidden dataset", field: "Hidden column", job: "Hidden job" } as Record<string, string>,
    run: "hidden run",
    columns: (count: number) => counted(count, "hidden column", "hidden columns"),
    datasets: (count: number) => counted(count, "hidden dataset", "hidden datasets"),
    changes: (count: number) => `${counted(count, "change", "changes")} of hidden datasets and jobs`,
    noAccess: "no access",
    ask: "Your role does not cover this. Ask an administrator of Whence for the reader role in its namespace.",
  },
  live: {
    asOf: (time: string) => `As of ${time} UTC`,
    ago: (seconds: number) =>
      seconds < 60
        ? `${seconds} s ago`
        : seconds < 3_600
          ? `${Math.floor(seconds / 60)} min ago`
          : `${Math.floor(seconds / 3_600)} h ago`,
    lost: "not refreshed: the server cannot be reached",
    refresh: "Refresh",
  },
  theme: { light: "Light", dark: "Dark", change: "Change between light and dark" },
  kinds: { dataset: "Dataset", field: "Column", job: "Job" } as Record<string, string>,
  types: {
    dataset: "Dataset",
    table: "Table",
    view: "View",
    file: "File",
    topic: "Topic",
    dashboard: "Dashboard",
    model: "Model",
    field: "Column",
    job: "Job",
    run: "Run",
    sql_job: "SQL job",
    rdd_job: "RDD job",
    hidden: "Hidden",
  } as Record<string, string>,
  states: {
    COMPLETE: "Completed",
    FAIL: "Failed",
    ABORT: "Aborted",
    START: "Running",
    RUNNING: "Running",
    OTHER: "Unknown",
  } as Record<string, string>,
  flows: {
    direct: "Values flow",
    indirect: "Influence: join, filter, grouping",
    inferred: "Inferred from inputs and outputs",
  },
  shortFlows: { direct: "direct", indirect: "indirect", inferred: "inferred" },
  fates: {
    added: "Added",
    connected: "Newly connected",
    changed: "Inputs changed",
    disconnected: "No longer connected",
    removed: "Removed",
  },
  problem: {
    title: "Something went wrong",
    unknown: "Not found",
    noPage: "There is no such page.",
    noNode: (kind: string) =>
      `There is no ${kind.toLowerCase() || "node"} with this name, or your role does not cover it:`,
    noId: "This is not the id of a dataset, column or job:",
    meant: "Did you mean",
    search: "or press / to search",
    offline: "The server cannot be reached.",
    home: "Home",
  },
  ago: (seconds: number): string => {
    const past = Math.max(0, seconds);
    if (past < 60) return "just now";
    if (past < 3_600) return `${Math.floor(past / 60)} min ago`;
    if (past < 86_400) return `${Math.floor(past / 3_600)} h ago`;
    return `${counted(Math.floor(past / 86_400), "day", "days")} ago`;
  },
  took: (seconds: number): string =>
    seconds < 1
      ? `${Math.round(seconds * 1000)} ms`
      : seconds < 60
        ? `${seconds.toFixed(1)} s`
        : seconds < 3_600
          ? `${Math.round(seconds / 60)} min`
          : `${(seconds / 3_600).toFixed(1)} h`,
};
