// What changed at a node and upstream of it in a period, as one timeline.

import "../styles/changes.css";
import { usePages, type ChangesUpstream, type ChangeUpstream, type Envelope } from "../api";
import { lineageAddress, nodeAddress } from "../address";
import { Paged } from "../dashboards/Paged";
import { useTraits } from "../facts/traits";
import { boxOf, parseName, wholeName } from "../names";
import { exact, Go, Icon, NodeGlyph, NodeLink } from "../components/elements";
import { Section } from "../components/Section";
import { WhereView } from "../components/location";
import { words } from "../texts";
import { changesAddress, type ChangesAsked } from "./address";
import { ChangeView } from "./ChangeView";

/** The changes on one page of an answer. */
const READ = 100;
/** Up to this number of nodes have icons of their type. */
const MOST_TYPED = 100;

export const ChangesPage = ({ asked }: { asked: ChangesAsked }) => {
  const { node, since, asOf } = asked;
  const listing = usePages<Envelope<ChangesUpstream>>("changes", { node, since, as_of: asOf, limit: READ });
  const found = listing.pages[0];
  const all = listing.pages.flatMap((page) => page.data.changes);
  const shown = asked.kind ? all.filter((one) => one.kind === asked.kind) : all;
  useTraits([...new Set(shown.map((one) => boxOf(one.node)))].slice(0, MOST_TYPED));
  return (
    <div className="page changes-page">
      <header className="page-head">
        <NodeGlyph id={node} />
        <div>
          <h1>{wholeName(node)}</h1>
          <p>
            <WhereView id={boxOf(node)} />
          </p>
        </div>
        <Go to={nodeAddress(boxOf(node), asOf)} className="button">
          <Icon name="open" />
          {words.explorer.page}
        </Go>
        <Go to={lineageAddress(node)} className="button primary">
          <Icon name="graph" />
          {words.node.lineage}
        </Go>
      </header>
      <Section title={words.changes.open} count={found?.page?.total}>
        <p className="quiet">{words.changes.about(wholeName(node))}</p>
        <Controls asked={asked} all={all} />
        {found && (
          <p className="quiet">
            {words.changes.from(exact(found.data.since).slice(0, 16), exact(found.data.until))} ·{" "}
            {words.changes.searched(found.data.datasets, found.data.jobs)}
          </p>
        )}
        <Paged of={listing} isEmpty={!shown.length} none={asked.kind ? words.changes.noneOf : words.changes.none}>
          <Days of={shown} root={node} />
        </Paged>
      </Section>
      {found && <NotKnown of={found} />}
    </div>
  );
};

const Controls = ({ asked, all }: { asked: ChangesAsked; all: readonly ChangeUpstream[] }) => {
  const counts = Map.groupBy(all, (one) => one.kind);
  return (
    <>
      <nav className="chips" aria-label={words.changes.period}>
        {words.changes.periods.map(([since, label]) => (
          <Go
            key={since}
            to={changesAddress({ ...asked, since })}
            className="chip chip-button"
            isCurrent={since === asked.since}
          >
            {label}
          </Go>
        ))}
        {asked.asOf && (
          <>
            <span className="chip">
              {words.changes.asOf(/^\d{4}-/.test(asked.asOf) ? exact(asked.asOf) : asked.asOf)}
            </span>
            <Go to={changesAddress({ ...asked, asOf: undefined })} className="chip chip-button">
              {words.changes.now}
            </Go>
          </>
        )}
      </nav>
      {(counts.size > 1 || asked.kind) && (
        <nav className="chips" aria-label={words.changes.onlyKind}>
          {Object.entries(words.changes.kinds).map(
            ([kind, label]) =>
              (counts.has(kind as ChangeUpstream["kind"]) || kind === asked.kind) && (
                <Go
                  key={kind}
                  to={changesAddress({ ...asked, kind: kind === asked.kind ? undefined : kind })}
                  className="chip chip-button"
                  isCurrent={kind === asked.kind}
                >
                  <span className={`kind-dot kind-${kind}`} aria-hidden="true" />
                  {label} <b>{counts.get(kind as ChangeUpstream["kind"])?.length ?? 0}</b>
                </Go>
              ),
          )}
        </nav>
      )}
    </>
  );
};

const dayOf = (one: ChangeUpstream): string => exact(one.time).slice(0, 10);

/** The changes below the days (UTC) of their times. */
const Days = ({ of, root }: { of: readonly ChangeUpstream[]; root: string }) => (
  <>
    {[...Map.groupBy(of, dayOf)].map(([day, several]) => (
      <div key={day}>
        <h3 className="changes-day">
          <time dateTime={day}>{day}</time>
        </h3>
        <ol className="timeline">
          {several.map((one, place) => (
            <ChangeView key={`${one.time} ${one.kind} ${one.node} ${place}`} one={one} root={root} />
          ))}
        </ol>
      </div>
    ))}
  </>
);

const NotKnown = ({ of: { data, completeness } }: { of: Envelope<ChangesUpstream> }) => {
  const stopped = completeness?.stopped_by;
  const why = stopped ? words.explorer.stoppedBy[stopped] : undefined;
  if (!data.not_known.length && !why) return null;
  return (
    <Section title={words.changes.notKnown}>
      <ul className="not-known">
        {data.not_known.map((one) => (
          <li key={one.reason}>
            <p>{words.changes.unknown[one.reason]?.(one.total) ?? one.reason}</p>
            {one.nodes.length > 0 && (
              <ul className="not-known-nodes">
                {one.nodes.map((node) => (
                  <li key={node}>
                    <NodeLink id={node} whole={parseName(node).kind === "field"} />
                  </li>
                ))}
                {one.total > one.nodes.length && (
                  <li className="quiet">{words.changes.andMore(one.total - one.nodes.length)}</li>
                )}
              </ul>
            )}
          </li>
        ))}
        {why && <li>{words.explorer.incomplete(why)}.</li>}
      </ul>
    </Section>
  );
};
