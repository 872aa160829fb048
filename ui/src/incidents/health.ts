// The lens over the graph that marks datasets by the worst of their incidents and objectives.

import { useMemo } from "react";
import { apiPath, useAnswer, type Envelope, type IncidentList, type SloList } from "../api";
import type { Lensed, Mark } from "../explorer/lens";
import type { Picture } from "../graph/model";
import { shortName } from "../names";
import { words } from "../texts";

/** In one answer: as many as the API lists at once. */
const MOST = 1_000;
const { health } = words.lenses;

/** The worst first. */
const MARKS = {
  page: { tone: "bad", icon: "cross", text: health.page },
  ticket: { tone: "warn", icon: "triangle", text: health.ticket },
  open: { tone: "violet", icon: "square", text: health.open },
  acknowledged: { tone: "busy", icon: "ring", text: health.acknowledged },
  mitigated: { tone: "teal", icon: "clock", text: health.mitigated },
  symptom: { tone: "indigo", icon: "arrow", text: health.symptom },
  violated: { tone: "warn", icon: "tilde", text: health.violated },
  holds: { tone: "good", icon: "check", text: health.holds },
  notJudged: { tone: "none", icon: "ring", text: health.notJudged },
} as const satisfies Record<string, Mark>;
type Health = keyof typeof MARKS;
const ORDER = Object.keys(MARKS) as Health[];

const NOTHING: Mark = { tone: "none", icon: "dash", text: health.nothing };
const NOT_READ: Mark = { tone: "none", icon: "ring", text: health.notRead };

interface Healthy {
  marks: ReadonlyMap<string, Mark>;
  /** Whether all incidents and objectives were read. */
  isWhole: boolean;
}

/** The marks of datasets; undefined until they are known, or if they are not wanted. */
export const useHealth = (isWanted: boolean, asOf: string | undefined): Healthy | undefined => {
  const query = { limit: MOST, as_of: asOf };
  const incidents = useAnswer<Envelope<IncidentList>>(isWanted ? apiPath("incidents", query) : null).answer;
  const slos = useAnswer<Envelope<SloList>>(isWanted ? apiPath("slos", query) : null).answer;
  return useMemo(() => incidents && slos && healthOf(incidents, slos), [incidents, slos]);
};

const healthOf = (incidents: Envelope<IncidentList>, slos: Envelope<SloList>): Healthy => {
  const worst = new Map<string, [Health, Mark]>();
  const note = (dataset: string, kind: Health, text: string = MARKS[kind].text) => {
    const known = worst.get(dataset)?.[0];
    if (known && ORDER.indexOf(known) <= ORDER.indexOf(kind)) return;
    worst.set(dataset, [kind, { ...MARKS[kind], text, kind: MARKS[kind].text }]);
  };
  for (const one of incidents.data.incidents) {
    const kind = kindOf(one);
    const quiet = one.silenced_until ? `, ${words.incidents.isSilenced}` : "";
    for (const root of one.roots) note(root, kind, `${MARKS[kind].text}${quiet}`);
    for (const dataset of one.symptoms)
      note(dataset, "symptom", one.root ? `${health.symptomOf(shortName(one.root))}${quiet}` : undefined);
  }
  for (const one of slos.data.slos)
    note(one.dataset, one.state === "violated" ? "violated" : one.state === "holds" ? "holds" : "notJudged");
  const isWhole = !incidents.page?.next && !slos.page?.next && incidents.data.complete;
  return { marks: new Map([...worst].map(([dataset, [, mark]]) => [dataset, mark])), isWhole };
};

const kindOf = (one: IncidentList["incidents"][number]): Health => {
  if (one.state === "acknowledged" || one.state === "mitigated") return one.state;
  return one.notify === "page" || one.notify === "ticket" ? one.notify : "open";
};

/** The marks of the boxes of datasets. */
export const healthMarks = (picture: Picture, found: Healthy): Omit<Lensed, "legend"> => {
  const other = found.isWhole ? NOTHING : NOT_READ;
  const datasets = picture.boxes.filter((box) => box.kind === "dataset");
  return { marks: new Map(datasets.map((box) => [box.id, found.marks.get(box.id) ?? other])), columns: new Map() };
};
