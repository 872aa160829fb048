// Differences between the reports of two runs of a job. Pure; imports nothing.

/** The content of the events of one run; later events take precedence. */
export interface Reported {
  sql: string | undefined;
  commit: string | undefined;
  /** The columns and types of each output. */
  schemas: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** The rows written to each output. */
  rows: ReadonlyMap<string, number>;
}

type Json = Record<string, unknown>;
const part = (of: unknown, name: string): Json => {
  const found = of && typeof of === "object" ? (of as Json)[name] : undefined;
  return found && typeof found === "object" ? (found as Json) : {};
};
const list = (of: unknown): unknown[] => (Array.isArray(of) ? of : []);
const text = (of: unknown): string | undefined => (typeof of === "string" && of ? of : undefined);

const datasetOf = (one: unknown): string =>
  `${text((one as Json | null)?.["namespace"]) ?? ""} ${text((one as Json | null)?.["name"]) ?? ""}`;

const columnsOf = (fields: unknown, above = ""): [string, string][] =>
  list(fields).flatMap((field): [string, string][] => {
    const name = text((field as Json | null)?.["name"]);
    if (!name) return [];
    const whole = `${above}${name}`;
    return [[whole, text((field as Json)["type"]) ?? ""], ...columnsOf((field as Json)["fields"], `${whole}.`)];
  });

/** The content of the events of one run, in the order of their times. Malformed parts are ignored. */
export const reportedBy = (events: readonly unknown[]): Reported => {
  const schemas = new Map<string, ReadonlyMap<string, string>>();
  const rows = new Map<string, number>();
  let sql: string | undefined;
  let commit: string | undefined;
  for (const event of events) {
    const facets = part(part(event, "job"), "facets");
    sql = text(part(facets, "sql")["query"]) ?? sql;
    commit = text(part(facets, "sourceCodeLocation")["version"]) ?? commit;
    for (const output of list((event as Json | null)?.["outputs"])) {
      const columns = columnsOf(part(part(output, "facets"), "schema")["fields"]);
      if (columns.length) schemas.set(datasetOf(output), new Map(columns));
      const count = part(part(output, "outputFacets"), "outputStatistics")["rowCount"];
      if (typeof count === "number") rows.set(datasetOf(output), count);
    }
  }
  return { sql, commit, schemas, rows };
};

export interface ColumnChange {
  dataset: string;
  column: string;
  before: string | undefined;
  after: string | undefined;
}

/** The columns that differ, of outputs whose columns both runs reported. */
export const changedColumns = (before: Reported, after: Reported): ColumnChange[] =>
  [...after.schemas].flatMap(([dataset, now]) => {
    const then = before.schemas.get(dataset);
    if (!then) return [];
    return [...new Set([...then.keys(), ...now.keys()])]
      .filter((column) => then.get(column) !== now.get(column))
      .map((column) => ({ dataset, column, before: then.get(column), after: now.get(column) }));
  });

export interface TextLine {
  sign: "+" | "-" | " ";
  text: string;
}
/** Longer texts are not compared line by line: the cost is the product of their lengths. */
const MOST_LINES = 1_000;

/** The lines of two texts merged; lines of only one of them are marked. */
export const comparedLines = (before: string, after: string): TextLine[] => {
  const [old, now] = [before, after].map((one) => (one ? one.split("\n") : [])) as [string[], string[]];
  const removed = old.map((text): TextLine => ({ sign: "-", text }));
  const added = now.map((text): TextLine => ({ sign: "+", text }));
  if (old.length > MOST_LINES || now.length > MOST_LINES) return before === after ? [] : [...removed, ...added];
  // The length of the longest common subsequence of both remainders, for each pair of lines.
  const common = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = now.length - 1; j >= 0; j -= 1)
      common[i]![j] = old[i] === now[j] ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
  const lines: TextLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push({ sign: " ", text: old[i]! });
      i += 1;
      j += 1;
    } else if (j >= now.length || (i < old.length && common[i + 1]![j]! >= common[i]![j + 1]!))
      lines.push(removed[i++]!);
    else lines.push(added[j++]!);
  }
  return lines;
};
