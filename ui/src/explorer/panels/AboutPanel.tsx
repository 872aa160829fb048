// A summary of a box.

import { useState } from "react";
import { entryPath, useAnswer, type Dataset, type Job } from "../../api";
import { go, lineageAddress, pageAddress } from "../../address";
import { changesAddress } from "../../changes/address";
import { columnsOf, fieldId, isHiddenField, parseName, shortName, wholeName } from "../../names";
import { Awaited, Go, HiddenColumns, Icon } from "../../components/elements";
import { Runs } from "../../components/Runs";
import { Owners, TagsEditor } from "../../facts/editors";
import { WhereView } from "../../components/location";
import { useMay } from "../../session";
import { words } from "../../texts";
import { writersOf, type Line } from "../../graph/model";
import { useActions } from "../actions";
import { Panel } from "./Panel";

interface Props {
  node: string;
  lines: readonly Line[];
}

export const AboutPanel = ({ node, lines }: Props) => {
  const { kind, namespace, name } = parseName(node);
  const actions = useActions();
  const [filter, setFilter] = useState("");
  const query = useAnswer<{ data: Dataset | Job }>(entryPath(kind === "job" ? "jobs" : "datasets", namespace, name));
  const one = query.answer?.data;
  const mayEdit = useMay("steward", namespace);
  const all = one && "fields" in one ? columnsOf(one) : [];
  const fields = all.filter((field) => !isHiddenField(field.name));
  const fitting = fields.filter((field) => field.name.toLowerCase().includes(filter.toLowerCase()));
  return (
    <Panel title={shortName(node)} sub={<WhereView id={node} />}>
      <div className="panel-actions">
        <Go to={pageAddress("node", { node })} className="button">
          <Icon name="open" />
          {words.explorer.page}
        </Go>
        <button type="button" className="button" onClick={() => go(lineageAddress(node))}>
          <Icon name="graph" />
          {words.explorer.startHere}
        </button>
        <Go to={changesAddress({ node })} className="button">
          <Icon name="change" />
          {words.changes.open}
        </Go>
      </div>
      <Awaited of={query} />
      <Lines node={node} lines={lines} />
      {one && (
        <>
          {one.description && <p>{one.description}</p>}
          <p className="chips">
            {one.certification.map((level) => (
              <span key={level} className="chip chip-good">
                {level}
              </span>
            ))}
            {one.tier !== null && <span className="chip">{words.node.tier(one.tier)}</span>}
          </p>
          <div className="panel-facts">
            <h3>{words.node.tags}</h3>
            <TagsEditor node={one.node} facts={one} mayEdit={mayEdit} />
            <h3>{words.node.owners}</h3>
            <Owners node={one.node} facts={one} mayEdit={mayEdit} />
          </div>
          {"fields" in one && (
            <>
              <h3>{words.node.schema}</h3>
              {fields.length > 12 && (
                <input
                  className="input"
                  value={filter}
                  placeholder={words.explorer.findColumn(fields.length)}
                  aria-label={words.explorer.findColumn(fields.length)}
                  onChange={(event) => setFilter(event.target.value)}
                />
              )}
              <ul className="fields">
                {fitting.slice(0, 200).map((field) => (
                  <li key={field.name}>
                    <button
                      type="button"
                      onClick={() => actions.focus(fieldId(node, field.name))}
                      title={words.explorer.focus(field.name)}
                    >
                      <span>{field.name}</span>
                      <i>{field.type}</i>
                    </button>
                  </li>
                ))}
              </ul>
              {!all.length && <p className="quiet">{words.explorer.noColumns}</p>}
              <HiddenColumns count={all.length - fields.length} />
            </>
          )}
          {"latest_runs" in one && (
            <>
              <h3>{words.node.runs}</h3>
              <Runs runs={one.latest_runs} />
            </>
          )}
        </>
      )}
    </Panel>
  );
};

/** The lines at a box, each with the way to its evidence. */
const Lines = ({ node, lines }: Props) => {
  const { change } = useActions();
  const own = lines.filter((line) => line.source === node || line.target === node);
  if (!own.length) return null;
  return (
    <details className="panel-lines">
      <summary>{words.explorer.lines(own.length)}</summary>
      <ul className="fields">
        {own.map((line) => (
          <li key={line.id}>
            <button
              type="button"
              onClick={() => change({ edge: { source: line.from, target: line.to }, panel: "edge" })}
            >
              <span>
                {wholeName(line.from)} → {wholeName(line.to)}
              </span>
              <i>{[words.shortFlows[line.flow], ...writersOf(line).map(shortName)].join(" · ")}</i>
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
};
