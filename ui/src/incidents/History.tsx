// What happened to an incident, and who did what about it, the latest first.

import type { ReactNode } from "react";
import type { IncidentDocument } from "../api";
import { exact, NodeLink, When } from "../components/elements";
import { Section } from "../components/Section";
import { words } from "../texts";
import { IncidentChip } from "./IncidentChip";

type Act = IncidentDocument["acts"][number];

interface Entry {
  time: string;
  kind: string;
  what: ReactNode;
  text: string | null;
}

/** States and acts in one order; a state that an act made comes with it. */
const entries = (of: IncidentDocument): Entry[] => {
  const states = of.changes
    .filter((one) => !one.by)
    .map((one) => ({
      time: one.time,
      kind: one.state,
      what: <IncidentChip state={one.state} notify={one.notify} />,
      text: one.reason,
    }));
  const acts = of.acts.map((one) => ({ time: one.time, kind: "act", what: <Did act={one} />, text: one.text }));
  return [...states, ...acts].sort((a, b) => b.time.localeCompare(a.time));
};

const Did = ({ act }: { act: Act }) => (
  <span className="breaks">
    <b>{act.person ?? words.incidents.somebody}</b> {words.incidents.did[act.act] ?? act.act}
    {act.assignee && ` ${act.assignee}`}
    {act.until && ` ${exact(act.until)}`}
    {act.cause && (
      <>
        {" "}
        <NodeLink id={act.cause} />
      </>
    )}
  </span>
);

export const History = ({ of }: { of: IncidentDocument }) => (
  <Section title={words.incidents.history}>
    <ol className="timeline">
      {entries(of).map((one, place) => (
        <li key={place} className={`timeline-entry incident-${one.kind}`}>
          <div className="timeline-head">
            <When time={one.time} />
            {one.what}
          </div>
          {one.text && <p className="breaks">{one.text}</p>}
        </li>
      ))}
    </ol>
  </Section>
);
