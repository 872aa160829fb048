// The graph as it was, and when it changed.

import { useContext } from "react";
import { apiPath, useAnswer, type Change, type Envelope, type History, type Version } from "../../api";
import { instantAgo, instantOf, type Explored } from "../../address";
import { changesAddress } from "../../changes/address";
import { boxOf, fullName, isHidden, placeOf, shortName, wholeName } from "../../names";
import { Awaited, exact, Go, Icon } from "../../components/elements";
import { Instance } from "../../components/location";
import { words } from "../../texts";
import { ActionsContext, useActions } from "../actions";
import { Panel } from "./Panel";
import { useTraits } from "../../facts/traits";

const MOST_CHANGES = 12;

export const TimePanel = ({ explored }: { explored: Explored }) => {
  const { change } = useActions();
  const query = useAnswer<Envelope<History>>(apiPath("history", { node: explored.focus ?? explored.node, limit: 100 }));
  const node = boxOf(explored.node);
  const known = useTraits([node])?.get(node);
  const isNew = explored.versus && known?.first_seen && Date.parse(known.first_seen) > instantOf(explored.versus);
  const set = (asOf: string) => change({ asOf: asOf || undefined });
  return (
    <Panel title={words.time.title} sub={shortName(explored.focus ?? explored.node)}>
      <form
        className="as-of"
        onSubmit={(event) => {
          event.preventDefault();
          const asOf = new FormData(event.currentTarget).get("as_of");
          set(typeof asOf === "string" ? asOf : "");
        }}
      >
        <label htmlFor="as-of">{words.time.asOf}</label>
        <div>
          <input
            id="as-of"
            name="as_of"
            type="datetime-local"
            className="input"
            key={explored.asOf}
            defaultValue={/^\d{4}-/.test(explored.asOf ?? "") ? explored.asOf?.slice(0, 16) : ""}
          />
          <button className="button" type="submit">
            {words.time.apply}
          </button>
        </div>
      </form>
      <p className="chips">
        {words.time.presets.map(([label, seconds]) => (
          <button
            type="button"
            key={seconds}
            className="chip chip-button"
            aria-pressed={seconds === 0 && !explored.asOf}
            onClick={() => set(seconds ? instantAgo(seconds) : "")}
          >
            {label}
          </button>
        ))}
      </p>
      <div className="panel-actions">
        <Go to={changesAddress({ node: explored.focus ?? explored.node, asOf: explored.asOf })} className="button">
          <Icon name="change" />
          {words.changes.open}
        </Go>
      </div>
      <h3>{words.time.versions}</h3>
      {known?.first_seen && (
        <p>
          {words.time.firstSeen(exact(known.first_seen))} {isNew && <strong>{words.time.isNew}</strong>}
        </p>
      )}
      <Awaited of={query} />
      {query.answer &&
        (query.answer.data.versions.length ? (
          <ol className="versions">
            {query.answer.data.versions.map((one, number) => (
              <VersionView key={number} version={one} />
            ))}
          </ol>
        ) : (
          <p className="quiet">{words.time.none}</p>
        ))}
    </Panel>
  );
};

const ChangeView = ({ change: { what, node, source, target } }: { change: Change }) =>
  what === "edge" && source && target ? (
    <span title={`${fullName(source)} → ${fullName(target)}`}>
      {wholeName(source)} <Instance text={placeOf(source).instance} /> → {shortName(target)}
    </span>
  ) : (
    <>{node && isHidden(node) ? words.hidden.names["field"] : node}</>
  );

/** What was added, removed and changed, each with its sign. */
export const ChangesView = ({ changes, most }: { changes: readonly Change[]; most: number }) => (
  <ul className="changes">
    {changes.slice(0, most).map((one, number) => (
      <li key={number} className={`fate-${one.change}`}>
        <ChangeView change={one} />
      </li>
    ))}
    {changes.length > most && <li className="quiet">{words.node.moreRows(changes.length - most)}</li>}
  </ul>
);

export const VersionView = ({ version }: { version: Version }) => {
  const actions = useContext(ActionsContext);
  const count = { added: 0, removed: 0, changed: 0 };
  for (const one of version.changes) count[one.change] += 1;
  // Before the run that reported it: the report of a START event takes effect when the run completes.
  const began = Math.min(Date.parse(version.from), Date.parse(version.run?.started_at ?? version.from));
  const just = new Date(began - 1_000).toISOString().slice(0, 19);
  return (
    <li className={`version version-${version.kind}`}>
      <p>
        <strong>{version.kind === "schema" ? words.time.schema : words.time.lineage}</strong>{" "}
        <time dateTime={version.from} title={exact(version.from)}>
          {exact(version.from).slice(0, 16)}
        </time>
      </p>
      <p className="quiet">
        <span title={fullName(version.said_by)}>
          {shortName(version.said_by)} <Instance text={placeOf(version.said_by).instance} />
        </span>{" "}
        · {version.kind === "schema" ? words.time.columns(version.size) : words.time.edges(version.size)}
      </p>
      <p className="chips">
        {count.added > 0 && <span className="chip fate-added">+{count.added}</span>}
        {count.removed > 0 && <span className="chip fate-removed">−{count.removed}</span>}
        {count.changed > 0 && <span className="chip">~{count.changed}</span>}
        {actions && (
          <button
            type="button"
            className="link-button"
            onClick={() => actions.change({ asOf: version.from, versus: undefined })}
          >
            {words.time.see}
          </button>
        )}
        {actions && version.kind === "lineage" && (
          <button
            type="button"
            className="link-button"
            onClick={() => actions.change({ versus: just, asOf: undefined })}
          >
            {words.time.compare}
          </button>
        )}
      </p>
      {version.changes.length > 0 && <ChangesView changes={version.changes} most={MOST_CHANGES} />}
    </li>
  );
};
