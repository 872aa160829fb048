// The incidents on the on-call dashboard: by urgency, mine, those that nobody has; objectives that burn their budget,
// and what was resolved last.

import "../styles/slos.css";
import { useState } from "react";
import { apiPath, useAnswer, type Envelope, type IncidentList, type SloList } from "../api";
import { pageAddress } from "../address";
import { Awaited, Go, Icon, When } from "../components/elements";
import { IncidentChip } from "../incidents/IncidentChip";
import { StateChip } from "../slos/StateChip";
import { useSession } from "../session";
import { words } from "../texts";

const { oncallIncidents: oncall } = words.boards;

type Incident = IncidentList["incidents"][number];

const MOST = 1_000;
const SHOWN = 12;
const SHOWN_ASIDE = 5;
const URGENCY = ["page", "ticket"];
const FILTERS = ["every", "mine", "nobody"] as const;

const rank = (one: Incident): number => {
  const place = URGENCY.indexOf(one.notify ?? "");
  const isQuiet = one.state !== "open" || one.silenced_until !== null;
  return (place < 0 ? URGENCY.length : place) + (isQuiet ? URGENCY.length + 1 : 0);
};

/** Open ones before those that somebody has; in each, by urgency; then the oldest first. */
const byUrgency = (a: Incident, b: Incident): number => rank(a) - rank(b) || a.since.localeCompare(b.since);

export const OnCallIncidents = () => {
  const { me } = useSession();
  const [filter, setFilter] = useState<(typeof FILTERS)[number]>("every");
  const asked = useAnswer<Envelope<IncidentList>>(apiPath("incidents", { limit: MOST }));
  const rows = [...(asked.answer?.data.incidents ?? [])].sort(byUrgency);
  const kept = {
    every: rows,
    mine: rows.filter((one) => one.assignee !== null && [me.name, me.name.replace(/^\w+:/, "")].includes(one.assignee)),
    nobody: rows.filter((one) => one.state === "open" && one.assignee === null),
  };
  const shown = kept[filter].slice(0, SHOWN);
  return (
    <section className="section" id="incidents">
      <h2>{words.incidents.title}</h2>
      <p className="chips" role="group" aria-label={oncall.which}>
        {FILTERS.map((one) => (
          <button
            key={one}
            type="button"
            className="chip chip-button"
            aria-pressed={filter === one}
            onClick={() => setFilter(one)}
          >
            {oncall.filters[one]} <b>{kept[one].length}</b>
          </button>
        ))}
      </p>
      <Awaited of={asked} lines={4} />
      {asked.answer && !shown.length && (
        <p className="all-well">
          <Icon name="check" size={18} />
          {oncall.none[filter]}
        </p>
      )}
      <ul className="oncall-incidents">
        {shown.map((one) => (
          <li key={one.id}>
            <IncidentChip state={one.state} notify={one.notify} isSilenced={!!one.silenced_until} />
            <Go to={pageAddress("incident", { incident: one.id })} className="link-button breaks">
              {one.title}
            </Go>
            <span className="quiet">
              <When time={one.since} /> · {one.assignee ?? oncall.goesTo(one.routed_to)}
            </span>
          </li>
        ))}
      </ul>
      {kept[filter].length > shown.length && <p className="quiet">{oncall.more(kept[filter].length - shown.length)}</p>}
      {(asked.answer?.data.hidden ?? 0) > 0 && (
        <p className="hidden-note">
          <Icon name="lock" size={14} />
          {words.incidents.hidden(asked.answer!.data.hidden)}
        </p>
      )}
      <Go to="./incidents" className="link-button">
        {words.incidents.every}
      </Go>
    </section>
  );
};

export const Burning = () => {
  const asked = useAnswer<Envelope<SloList>>(apiPath("slos", { limit: MOST }));
  const left = (one: SloList["slos"][number]): number => one.budget?.remaining ?? 1;
  const burning = (asked.answer?.data.slos ?? [])
    .filter((one) => one.notify !== null || one.state === "violated")
    .sort((a, b) => left(a) - left(b));
  return (
    <section className="section">
      <h2>{oncall.burning}</h2>
      <Awaited of={asked} lines={2} />
      {asked.answer && !burning.length && <p className="quiet">{oncall.burningNone}</p>}
      <ul className="slos">
        {burning.slice(0, SHOWN_ASIDE).map((one) => (
          <li key={one.id}>
            <StateChip state={one.state} notify={one.notify} />{" "}
            <Go to={pageAddress("slo", { slo: one.id })} className="link-button breaks">
              {one.service}/{one.name}
            </Go>
            <div className="quiet">{oncall.budget(words.incidents.left(one.budget?.remaining ?? null))}</div>
          </li>
        ))}
      </ul>
    </section>
  );
};

export const Resolved = () => {
  const asked = useAnswer<Envelope<IncidentList>>(apiPath("incidents", { state: "resolved", limit: MOST }));
  const ended = (one: Incident): string => one.until ?? one.since;
  const rows = [...(asked.answer?.data.incidents ?? [])].sort((a, b) => ended(b).localeCompare(ended(a)));
  return (
    <section className="section">
      <h2>{oncall.resolved}</h2>
      <Awaited of={asked} lines={2} />
      {asked.answer && !rows.length && <p className="quiet">{words.incidents.noneResolved}</p>}
      <ul className="slos">
        {rows.slice(0, SHOWN_ASIDE).map((one) => (
          <li key={one.id}>
            <Go to={pageAddress("incident", { incident: one.id })} className="link-button breaks">
              {one.title}
            </Go>
            <div className="quiet">
              <When time={one.until} />
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
};
