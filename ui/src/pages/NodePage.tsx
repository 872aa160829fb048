// The page of a dataset or job.

import { entryPath, evidencePath, useAnswer, type Dataset, type Job } from "../api";
import { lineageAddress } from "../address";
import { changesAddress } from "../changes/address";
import { boxOf, fullName, learnType, parseName, shortName } from "../names";
import { Awaited, exact, Go, Icon, NodeGlyph, When } from "../components/elements";
import { Facets, Section } from "../components/Section";
import { WhereView } from "../components/location";
import { Description, Owners, TagsEditor, Trust } from "../facts/editors";
import { OtherTruth, Standing } from "../facts/Standing";
import { useMay } from "../session";
import { Downstream } from "../sensitivity/Downstream";
import { SlosOf } from "../slos/SlosPage";
import { words } from "../texts";
import { Contract } from "./node/Contract";
import { Quality } from "./node/Quality";
import { CheckHistory } from "./node/CheckHistory";
import { JobParts } from "./node/JobParts";
import { Checks, LastWrite } from "./node/LatestRuns";
import { MeasurementHistory } from "./node/MeasurementHistory";
import { LineageBaseline } from "./node/LineageBaseline";
import { Neighbours } from "./node/Neighbours";
import { NodeHistory } from "./node/NodeHistory";
import { TableVersions } from "./node/TableVersions";
import { Schema } from "./node/Schema";
import { NotFound } from "./NotFound";

export const NodePage = ({ node, asOf }: { node: string; asOf?: string }) => {
  const box = boxOf(node);
  const { kind, namespace, name } = parseName(box);
  const query = useAnswer<{ data: Dataset | Job }>(entryPath(kind === "job" ? "jobs" : "datasets", namespace, name));
  const one = query.answer?.data;
  learnOwnType(box, one);
  const isUnknown = query.problem?.status === 404;
  const mayEdit = useMay("steward", namespace);
  if (isUnknown) return <NotFound requested={box} candidates={query.problem?.candidates} />;
  return (
    <div className="page">
      <header className="page-head">
        <NodeGlyph id={box} />
        <div>
          <h1>
            {shortName(box)}
            {one?.deleted && <span className="chip chip-bad">{words.node.deleted}</span>}
            {one && kind === "dataset" && <Standing node={box} />}
          </h1>
          <p title={fullName(box)}>
            <WhereView id={box} />
          </p>
        </div>
        {one && (
          <a
            className="button"
            href={evidencePath(box, asOf)}
            download="whence-evidence.zip"
            title={words.standing.evidenceTitle}
          >
            <Icon name="save" />
            {words.standing.evidence}
          </a>
        )}
        <Go to={changesAddress({ node, asOf })} className="button">
          <Icon name="change" />
          {words.changes.open}
        </Go>
        <Go to={lineageAddress(node)} className="button primary">
          <Icon name="graph" />
          {words.node.lineage}
        </Go>
      </header>
      <Awaited of={query} lines={8} />
      {one && kind === "dataset" && <OtherTruth node={box} />}
      {one && (
        <div className="page-columns">
          <div>
            <Section title={words.node.description}>
              <Description node={one.node} facts={one} mayEdit={mayEdit} />
            </Section>
            {"fields" in one && <Schema dataset={one} mayEdit={mayEdit} marked={parseName(node).field} />}
            {"latest_runs" in one && <JobParts job={one} />}
            <Neighbours
              node={box}
              side="upstream"
              title={kind === "job" ? words.node.inputs : words.node.upstream}
              hasJobs={kind !== "job"}
            />
            <Neighbours
              node={box}
              side="downstream"
              title={kind === "job" ? words.node.outputs : words.node.downstream}
              hasJobs={kind !== "job"}
            />
            {kind !== "job" && (
              <Section title={words.labels.downstream}>
                <Downstream node={box} asOf={asOf} />
              </Section>
            )}
            {kind !== "job" && <CheckHistory node={box} asOf={asOf} />}
            {kind !== "job" && <MeasurementHistory node={box} asOf={asOf} />}
            {kind === "dataset" && <TableVersions node={one.node} />}
            <NodeHistory node={box} />
          </div>
          <aside>
            <Section title={words.node.owners}>
              <Owners node={one.node} facts={one} mayEdit={mayEdit} />
            </Section>
            <Section title={words.node.tags}>
              <TagsEditor node={one.node} facts={one} mayEdit={mayEdit} />
            </Section>
            <Section title={words.edit.trust}>
              <Trust node={one.node} facts={one} mayEdit={mayEdit} />
            </Section>
            {"contract_version" in one && (one.contract_version || asOf) && <Contract node={one.node} asOf={asOf} />}
            {kind === "dataset" && <LineageBaseline node={one.node} asOf={asOf} />}
            {kind === "dataset" && <SlosOf node={one.node} />}
            <dl className="facts">
              <dt>{words.node.namespace}</dt>
              <dd className="mono breaks">{one.namespace}</dd>
              <dt>{words.node.firstSeen}</dt>
              <dd title={exact(one.first_seen)}>
                <When time={one.first_seen} />
              </dd>
              <dt>{words.node.lastSeen}</dt>
              <dd title={exact(one.last_seen)}>
                <When time={one.last_seen} />
              </dd>
              {"last_write" in one && one.last_write && <LastWrite of={one.last_write} node={box} />}
              {kind === "dataset" && <Checks node={box} />}
              {kind === "dataset" && <Quality node={one.node} asOf={asOf} />}
              <dt>{words.node.nodeId}</dt>
              <dd className="mono breaks">{one.node}</dd>
            </dl>
            <Facets facets={one.facets} />
          </aside>
        </div>
      )}
    </div>
  );
};

/** Store the type that the document of a dataset reports: the sign of its page is that of lists and of the graph. */
const learnOwnType = (box: string, one?: Dataset | Job): void => {
  const reported = (one?.facets["datasetType"] as { datasetType?: unknown } | undefined)?.datasetType;
  if (typeof reported === "string") learnType(box, reported);
};
