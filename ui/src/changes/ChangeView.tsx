// One entry of the timeline: when, what, where, and the event that proves it.

import { useState } from "react";
import type { ChangedPart, ChangeUpstream } from "../api";
import { explorerAddress, fresh } from "../address";
import { fullName, isHiddenField, isHiddenKey, parseName, placeOf, shortName, wholeName } from "../names";
import { exact, Go, NodeLink, RunLink } from "../components/elements";
import { Instance } from "../components/location";
import { RawEvent } from "../components/RawEvent";
import { words } from "../texts";

/** Parts of one change that are shown at first. */
const SHOWN = 8;
const BAD = new Set(["failed", "violated", "removed"]);
const GOOD = new Set(["recovered", "fulfilled", "added"]);

const toneOf = (change: string) => (BAD.has(change) ? "chip-bad" : GOOD.has(change) ? "chip-good" : "chip-warn");

export const ChangeView = ({ one, root }: { one: ChangeUpstream; root: string }) => {
  const [isOpen, setOpen] = useState(false);
  const before = new Date(Date.parse(one.time) - 1_000).toISOString().slice(0, 19);
  const isColumn = one.kind === "schema" && parseName(one.node).kind === "field";
  const kind = isColumn ? "column" : one.kind;
  const event = one.event && !isHiddenKey(one.event.event) ? one.event : null;
  return (
    <li className={`timeline-entry kind-${one.kind}`}>
      <div className="timeline-head">
        <time dateTime={one.time} title={exact(one.time)}>
          {exact(one.time).slice(11, 19)}
        </time>
        <span className={`chip kind-${one.kind}`}>{words.changes.kinds[one.kind] ?? one.kind}</span>
        <NodeLink id={one.node} whole={parseName(one.node).kind === "field"} />
        <span className={`chip ${toneOf(one.change)}`}>{words.changes.what[kind]?.[one.change] ?? one.change}</span>
        <span className="quiet">{words.changes.hops(one.distance)}</span>
      </div>
      <Parts of={one} />
      <p className="timeline-by quiet">
        {one.job && one.job !== one.node && (
          <span title={fullName(one.job)}>
            {words.node.by} {shortName(one.job)}
          </span>
        )}
        {one.run && (
          <span>
            {words.node.run} <RunLink run={one.run} />
          </span>
        )}
        {one.event && !one.run && <span className="breaks">{one.event.producer}</span>}
        {one.kind === "lineage" && (
          <Go
            to={explorerAddress({ ...fresh(root), versus: before })}
            className="link-button"
            title={words.changes.when(exact(one.time))}
          >
            {words.changes.seeGraph}
          </Go>
        )}
        {event && (
          <button type="button" className="link-button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? words.evidence.hideEvent : words.evidence.showEvent}
          </button>
        )}
      </p>
      {event && isOpen && <RawEvent event={event.event} />}
    </li>
  );
};

const Parts = ({ of: { kind, node, parts } }: { of: ChangeUpstream }) => {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? parts : parts.slice(0, SHOWN);
  return (
    <>
      <ul className="changes">
        {shown.map((one, place) => (
          <li key={place} className={`fate-${one.change}`}>
            {one.end && (
              <span title={fullName(one.end)}>
                <bdi>{wholeName(one.end)}</bdi> <Instance text={placeOf(one.end).instance} /> →{" "}
              </span>
            )}
            <bdi>{nameOf(one, node)}</bdi>{" "}
            <span className="quiet">{one.change === "renamed" ? formerly(one) : turnOf(one, kind)}</span>
          </li>
        ))}
      </ul>
      {shown.length < parts.length && (
        <button type="button" className="link-button" onClick={() => setWhole(true)}>
          {words.node.moreRows(parts.length - shown.length)}
        </button>
      )}
    </>
  );
};

/** What a part is of: a column, a check, a rule; or the end of an edge. */
const nameOf = ({ name, end }: ChangedPart, node: string): string => {
  if (name) return isHiddenField(name) ? (words.hidden.names["field"] ?? name) : name;
  if (!end) return "";
  return parseName(node).kind === "field" ? shortName(node) : words.changes.all;
};

const formerly = ({ before }: ChangedPart): string => (before ? words.changes.was(before) : "");

const turnOf = ({ before, after }: ChangedPart, kind: string): string => {
  const texts = [before, after].filter((one) => one !== null);
  return texts.map((one) => (kind === "run" && words.states[one]) || one).join(" → ");
};
