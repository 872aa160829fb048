// Lenses that mark the boxes: each mark is a colour, a shape and a word, never a colour alone.

import { useMemo } from "react";
import { apiPath, useAnswer, type Change, type Diff, type Envelope, type Traits } from "../api";
import { instantAgo, type Explored, type Lens } from "../address";
import type { Box, Line, Picture } from "../graph/model";
import { boxOf, fieldId, parseName } from "../names";
import { healthMarks, useHealth } from "../incidents/health";
import { isCategory } from "../sensitivity/grades";
import { labelled } from "../sensitivity/lens";
import { words } from "../texts";

export type Tone = "good" | "warn" | "bad" | "busy" | "violet" | "teal" | "indigo" | "none";

export interface Mark {
  tone: Tone;
  icon: keyof typeof SHAPES;
  text: string;
  /** Under which the legend counts it, if that is not its text. */
  kind?: string;
  /** Whether it may be less. */
  isAssumed?: boolean;
}

export interface Lensed {
  marks: ReadonlyMap<string, Mark>;
  /** By field id. */
  columns: ReadonlyMap<string, Mark>;
  legend: readonly { mark: Mark; count: number }[];
}

const SHAPES = {
  check: "M2.5 6.5l2.5 2.500 4.500-5.500",
  cross: "M3 3l6 6M9 3l-6 6",
  ring: "M6 2a4 4 0 1 0 .01 0z",
  clock: "M6 1.500a4.500 4.500 0 1 0 .01 0zM6 3.500V6l2 1.500",
  dash: "M2.500 6h7",
  plus: "M6 2.500v7M2.500 6h7",
  tilde: "M2 7c1.500-3 3-3 4-1s2.500 2 4-1",
  diamond: "M6 1.500l4.500 4.500L6 10.500 1.500 6z",
  square: "M2.500 2.500h7v7h-7z",
  triangle: "M6 2l4.500 8h-9z",
  shield: "M6 1.500l4 1.500v3c0 2.500-1.700 4-4 4.700C3.700 10 2 8.500 2 6V3z",
  arrow: "M2 6h8M7 3l3 3-3 3",
  sum: "M9 2.500H3L6.500 6 3 9.500h6",
  mask: "M1.500 6c2-3.500 7-3.500 9 0-2 3.500-7 3.500-9 0zM2 10.500l8-9",
};

export const MarkView = ({ mark, className }: { mark: Mark; className: string }) => (
  <span className={`mark tone-${mark.tone} ${mark.isAssumed ? "assumed " : ""}${className}`} title={mark.text}>
    <svg className="icon" viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
      <path d={SHAPES[mark.icon]} />
    </svg>
    <span>{mark.text}</span>
  </span>
);

const UNKNOWN: Mark = { tone: "none", icon: "dash", text: words.lenses.unknown };
const NONE: Lensed = { marks: new Map(), columns: new Map(), legend: [] };
/** Lenses that need the traits of the nodes. */
const WITH_TRAITS: readonly Lens[] = ["run", "fresh", "quality", "tags", "owner"];
const WEEK = 7 * 86_400;

export const useLens = (
  explored: Explored,
  picture: Picture,
  traits: ReadonlyMap<string, Traits> | undefined,
): Lensed => {
  const { lens } = explored;
  const changes = useChanges(lens === "change" ? explored : undefined);
  const health = useHealth(lens === "health", explored.asOf);
  return useMemo(() => {
    if (!lens) return NONE;
    if (lens === "column") return evolved(picture);
    if (lens === "health") return health ? withLegend(healthMarks(picture, health)) : NONE;
    if (isCategory(lens)) return traits ? withLegend(labelled(picture, traits)) : NONE;
    if (WITH_TRAITS.includes(lens) && !traits) return NONE;
    const owners =
      lens === "owner" ? tonesOf(picture.boxes.flatMap((box) => traits?.get(box.id)?.owners[0] ?? [])) : [];
    const marks = new Map(
      picture.boxes.map((box) => [box.id, marked(lens, box, traits?.get(box.id), changes, owners, explored)]),
    );
    return { marks, columns: NONE.columns, legend: counted(marks.values()) };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- marks depend on its time only
  }, [lens, picture, traits, changes, health, explored.asOf]);
};

const marked = (
  lens: Lens,
  box: Box,
  traits: Traits | undefined,
  changes: ReadonlyMap<string, Mark> | undefined,
  owners: readonly string[],
  explored: Explored,
): Mark => {
  switch (lens) {
    case "run":
      return runMark(traits?.latest?.state ?? box.run?.state);
    case "fresh":
      return traits?.written ? freshMark(traits.written.time, explored.asOf) : UNKNOWN;
    case "quality":
      return traits?.quality ? qualityMark(traits.quality) : UNKNOWN;
    case "tags":
      return tagMark(traits?.tags ?? []);
    case "owner":
      return ownerMark(traits?.owners ?? [], owners);
    default:
      return changes?.get(box.id) ?? { tone: "none", icon: "dash", text: words.lenses.same };
  }
};

const RUNS: Record<string, Omit<Mark, "text">> = {
  COMPLETE: { tone: "good", icon: "check" },
  FAIL: { tone: "bad", icon: "cross" },
  ABORT: { tone: "bad", icon: "square" },
  START: { tone: "busy", icon: "ring" },
  RUNNING: { tone: "busy", icon: "ring" },
};

const runMark = (state: string | undefined): Mark => {
  const known = state && RUNS[state];
  return known ? { ...known, text: words.states[state] ?? state } : UNKNOWN;
};

const AGES: [number, Omit<Mark, "text">, string][] = [
  [3_600, { tone: "good", icon: "check" }, words.lenses.hour],
  [86_400, { tone: "teal", icon: "clock" }, words.lenses.day],
  [WEEK, { tone: "warn", icon: "triangle" }, words.lenses.week],
  [Infinity, { tone: "bad", icon: "cross" }, words.lenses.older],
];

const freshMark = (time: string, asOf: string | undefined): Mark => {
  const now = asOf ? Date.parse(`${asOf.replace(/Z?$/, "")}Z`) : Date.now();
  const seconds = ((Number.isNaN(now) ? Date.now() : now) - Date.parse(time)) / 1_000;
  const [, mark, kind] = AGES.find(([within]) => seconds <= within)!;
  return { ...mark, text: words.ago(seconds), kind };
};

const qualityMark = ({ held, failed, warned }: NonNullable<Traits["quality"]>): Mark => {
  if (failed) return { tone: "bad", icon: "cross", text: words.lenses.failed(failed), kind: words.lenses.someFailed };
  if (warned)
    return { tone: "warn", icon: "triangle", text: words.lenses.warned(warned), kind: words.lenses.someWarned };
  return { tone: "good", icon: "check", text: words.lenses.held(held), kind: words.lenses.allHeld };
};

const PII = /(^|[^a-z])(pii|gdpr|personal|sensitive|phi)([^a-z]|$)/i;
const CERTIFIED = new Set(["certified", "canonical"]);

const tagMark = (tags: Traits["tags"]): Mark => {
  const pii = tags.filter((tag) => PII.test(tag.key) || PII.test(tag.value));
  if (pii.length) {
    const fields = [...new Set(pii.map((tag) => tag.field).filter(Boolean))];
    const text = fields.length ? `${words.lenses.pii}: ${few(fields)}` : words.lenses.pii;
    return { tone: "bad", icon: "shield", text, kind: words.lenses.pii };
  }
  const vouched = tags.find((tag) => CERTIFIED.has(tag.key) && !tag.field);
  if (vouched) return { tone: "good", icon: "check", text: vouched.key, kind: words.lenses.certified };
  const keys = [...new Set(tags.map((tag) => tag.key))];
  return keys.length
    ? { tone: "indigo", icon: "diamond", text: few(keys), kind: words.lenses.tagged }
    : { tone: "none", icon: "dash", text: words.lenses.untagged };
};

const few = (some: readonly string[]): string =>
  some.length > 1 ? words.lenses.more(some[0]!, some.length - 1) : (some[0] ?? "");

const OWNED: Omit<Mark, "text">[] = [
  { tone: "busy", icon: "square" },
  { tone: "teal", icon: "diamond" },
  { tone: "violet", icon: "triangle" },
  { tone: "warn", icon: "ring" },
  { tone: "good", icon: "plus" },
];

/** The owners of the most boxes, the first one of each. */
const tonesOf = (owners: readonly string[]): string[] => {
  const counts = new Map<string, number>();
  for (const one of owners) counts.set(one, (counts.get(one) ?? 0) + 1);
  return [...counts.keys()]
    .sort((a, b) => counts.get(b)! - counts.get(a)! || a.localeCompare(b))
    .slice(0, OWNED.length);
};

const ownerMark = (owners: readonly string[], known: readonly string[]): Mark => {
  const [first] = owners;
  if (first === undefined) return { tone: "none", icon: "dash", text: words.lenses.noOwner };
  const place = known.indexOf(first);
  return place < 0
    ? { tone: "indigo", icon: "shield", text: few(owners), kind: words.lenses.otherOwner }
    : { ...OWNED[place]!, text: few(owners), kind: first };
};

const FATES: Record<Change["change"], Mark> = {
  added: { tone: "good", icon: "plus", text: words.lenses.added },
  removed: { tone: "bad", icon: "dash", text: words.lenses.removed },
  changed: { tone: "warn", icon: "tilde", text: words.lenses.changed },
};

/** The changes of each dataset and job, including its columns and edges. */
const useChanges = (one: Explored | undefined): Map<string, Mark> | undefined => {
  // Rounded to the hour, so that queries within an hour share a cache entry.
  const week = useMemo(() => `${instantAgo(WEEK).slice(0, 13)}:00`, []);
  const address = one && apiPath("diff", { before: one.versus ?? week, after: one.asOf, limit: 10_000 });
  const query = useAnswer<Envelope<Diff>>(address ?? null);
  return useMemo(() => {
    const found = new Map<string, Mark>();
    for (const change of query.answer?.data.changes ?? []) {
      const end = change.node ?? change.target;
      if (!end) continue;
      const isWhole = change.what === "dataset" || change.what === "job";
      if (isWhole) found.set(boxOf(end), FATES[change.change]);
      else if (!found.has(boxOf(end))) found.set(boxOf(end), FATES.changed);
    }
    return query.answer && found;
  }, [query.answer]);
};

const EVOLVED: Record<string, Mark> = {
  aggregated: { tone: "violet", icon: "sum", text: words.lenses.aggregated },
  masked: { tone: "warn", icon: "mask", text: words.lenses.masked },
  transformed: { tone: "busy", icon: "tilde", text: words.lenses.transformed },
  renamed: { tone: "teal", icon: "arrow", text: words.lenses.renamed },
  identity: { tone: "good", icon: "check", text: words.lenses.identity },
  influence: { tone: "indigo", icon: "diamond", text: words.lenses.influence },
  origin: { tone: "none", icon: "ring", text: words.lenses.origin },
};
/** The strongest change first: it marks the box. */
const BY_WEIGHT = Object.keys(EVOLVED);

/** What happened to each traced column on its way in. */
const evolved = (picture: Picture): Lensed => {
  const into = new Map<string, Line[]>();
  for (const line of picture.lines) if (!line.faded) into.set(line.to, [...(into.get(line.to) ?? []), line]);
  const columns = new Map<string, Mark>();
  const marks = new Map<string, Mark>();
  for (const box of picture.boxes) {
    const ids = box.traced.map((field) => fieldId(box.id, field));
    const kinds = ids.map((id) => evolution(into.get(id) ?? []));
    ids.forEach((id, place) => columns.set(id, EVOLVED[kinds[place]!]!));
    const heaviest = BY_WEIGHT.find((kind) => kinds.includes(kind));
    if (heaviest) marks.set(box.id, EVOLVED[heaviest]!);
  }
  return { marks, columns, legend: counted(columns.values()) };
};

const evolution = (lines: readonly Line[]): string => {
  if (!lines.length) return "origin";
  const all = lines.flatMap((line) => line.edges.flatMap((edge) => edge.transformations));
  const direct = all.filter((one) => one.type !== "INDIRECT");
  if (!direct.length) return "influence";
  if (direct.some((one) => one.masking)) return "masked";
  if (direct.some((one) => one.subtype === "AGGREGATION")) return "aggregated";
  if (direct.some((one) => one.subtype !== "IDENTITY")) return "transformed";
  const isRenamed = lines.some((line) => parseName(line.from).field !== parseName(line.to).field);
  return isRenamed ? "renamed" : "identity";
};

const withLegend = (some: Omit<Lensed, "legend">): Lensed => ({ ...some, legend: counted(some.marks.values()) });

const counted = (marks: Iterable<Mark>): { mark: Mark; count: number }[] => {
  const found = new Map<string, { mark: Mark; count: number }>();
  for (const mark of marks) {
    const kind = mark.kind ?? mark.text;
    const known = found.get(kind);
    found.set(kind, { mark: { ...mark, text: kind }, count: (known?.count ?? 0) + 1 });
  }
  return [...found.values()].sort((a, b) => b.count - a.count);
};
