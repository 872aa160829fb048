// The evidence of a line: its jobs, transformations, events and runs.

import { useState } from "react";
import type { Edge, Evidence } from "../../api";
import type { Line } from "../../graph/model";
import { isHiddenKey } from "../../names";
import { Icon, NodeLink, When } from "../../components/elements";
import { RawEvent } from "../../components/RawEvent";
import { Runs } from "../../components/Runs";
import { words } from "../../texts";
import { Panel } from "./Panel";

export const EvidencePanel = ({ line }: { line: Line | undefined }) => (
  <Panel
    title={words.evidence.title}
    sub={
      line && (
        <span className={`flow-key flow-${line.flow}`}>
          <svg width="30" height="6" aria-hidden="true">
            <path d="M0 3h30" className={`line flow-${line.flow}`} />
          </svg>
          {words.flows[line.flow]}
        </span>
      )
    }
  >
    {line ? (
      <>
        <div className="ends">
          <NodeLink id={line.from} whole />
          <Icon name="down" />
          <NodeLink id={line.to} whole />
        </div>
        {line.edges.map((edge) => (
          <EdgeEvidence key={`${edge.owner} ${edge.source} ${edge.target}`} edge={edge} />
        ))}
      </>
    ) : (
      <p className="quiet">{words.evidence.gone}</p>
    )}
  </Panel>
);

export const EdgeEvidence = ({ edge }: { edge: Edge }) => (
  <section className="assertion">
    <h3>{words.evidence.reportedBy}</h3>
    <NodeLink id={edge.owner} />
    {!edge.confirmed && <p className="note">{words.evidence.unconfirmed}</p>}
    <ul className="hows">
      {edge.transformations.map((one, number) => (
        <li key={number}>
          <span className={`chip flow-${one.type === "INDIRECT" ? "indirect" : edge.inferred ? "inferred" : "direct"}`}>
            {[one.type, one.subtype].filter(Boolean).join(" · ").toLowerCase()}
          </span>
          {one.masking && <span className="chip chip-mask">{words.evidence.masked}</span>}
          {one.description && <code>{one.description}</code>}
        </li>
      ))}
    </ul>
    {edge.evidence.map((one) => (
      <EvidenceView key={one.set + one.origin} evidence={one} />
    ))}
  </section>
);

const EvidenceView = ({ evidence }: { evidence: Evidence }) => (
  <div className="evidence">
    <p className="quiet">
      {[words.evidence.origins[evidence.origin] ?? evidence.origin, evidence.reader].filter(Boolean).join(" · ")}
    </p>
    <dl>
      <dt>{words.evidence.first}</dt>
      <dd>
        <When time={evidence.first_seen.time} />
      </dd>
      <dt>{words.evidence.last}</dt>
      <dd>
        <When time={evidence.last_seen.time} />
      </dd>
      <dt>{words.evidence.producer}</dt>
      <dd className="mono breaks">
        {isHiddenKey(evidence.last_seen.event) ? words.hidden.noAccess : evidence.last_seen.producer}
      </dd>
    </dl>
    {evidence.runs.length > 0 && (
      <>
        <h4>{words.evidence.runs}</h4>
        <Runs runs={evidence.runs} />
      </>
    )}
    {!isHiddenKey(evidence.last_seen.event) && <EventView event={evidence.last_seen.event} />}
  </div>
);

/** The raw event, loaded on demand. */
export const EventView = ({ event }: { event: string }) => {
  const [open, setOpen] = useState(false);
  return (
    <div className="event">
      <button type="button" className="link-button" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? "down" : "right"} />
        {open ? words.evidence.hideEvent : words.evidence.showEvent}
        <code className="quiet">{event.slice(0, 12)}</code>
      </button>
      {open && <RawEvent event={event} />}
    </div>
  );
};
