// One verdict: what a commit changes, everything that it hits, and who must approve.

import "../styles/gate.css";
import { apiPath, useAnswer, type ChangeRecord, type RecordedVerdict, type VerdictRecord } from "../api";
import { Awaited, exact, Go, NodeLink } from "../components/elements";
import { Section } from "../components/Section";
import { pageAddress } from "../address";
import { words } from "../texts";
import { verdictPath } from "./address";
import { Approvals } from "./Approvals";
import { HIDDEN } from "./picture";
import { PictureView } from "./PictureView";
import { VerdictChip } from "./VerdictChip";
import { WaiverForm } from "./Waivers";

export const VerdictPage = ({ repository, commit }: { repository: string; commit: string }) => {
  const query = useAnswer<{ data: RecordedVerdict }>(apiPath(verdictPath(repository, commit)));
  return (
    <div className="page verdict">
      <Awaited of={query} lines={6} />
      {query.answer && <Shown of={query.answer.data} />}
    </div>
  );
};

const Shown = ({ of }: { of: RecordedVerdict }) => {
  const { verdict } = of;
  return (
    <>
      <header className="page-head">
        <div>
          <h1>
            {of.repository} <VerdictChip verdict={verdict.verdict} />
          </h1>
          <p className="mono">{verdict.commit}</p>
        </div>
        <Go to={pageAddress("gates", { repository: of.repository })} className="button">
          {words.gate.verdicts}
        </Go>
        {verdict.pull.startsWith("https://") && (
          <a className="button primary" href={verdict.pull} rel="noreferrer">
            {words.gate.pull}
          </a>
        )}
      </header>
      <p className="quiet">
        {words.gate.recorded} {exact(of.recorded_at)} {words.gate.by} {of.recorded_by}
      </p>
      <PictureView verdict={verdict} />
      <Section title={words.gate.changes} count={verdict.changes.length}>
        {verdict.changes.map((one) => (
          <ChangeView key={one.id} change={one} repository={of.repository} />
        ))}
        <Counted
          counts={[
            [verdict.hidden_changes, words.gate.hiddenChanges],
            [verdict.more_changes, words.gate.more],
          ]}
        />
      </Section>
      <Approvals of={of} />
      <AffectedList verdict={verdict} />
      <Notes verdict={verdict} />
    </>
  );
};

const NodeOrHidden = ({ id }: { id: string }) =>
  id === HIDDEN ? <span className="quiet">{HIDDEN}</span> : <NodeLink id={id} whole />;

const ChangeView = ({ change, repository }: { change: ChangeRecord; repository: string }) => (
  <article className="verdict-change">
    <header>
      <NodeOrHidden id={change.node} />
      <b>{change.kind}</b>
      <VerdictChip verdict={change.verdict} />
      <span className="mono quiet">{change.id}</span>
    </header>
    {(change.before || change.after) && (
      <dl className="verdict-fates">
        <dt>{words.gate.before}</dt>
        <dd className="mono">{change.before || "–"}</dd>
        <dt>{words.gate.after}</dt>
        <dd className="mono">{change.after || "–"}</dd>
      </dl>
    )}
    <ul>
      {change.why.map((one) => (
        <li key={one.rule}>{one.text}</li>
      ))}
      {change.reason && <li>{change.reason}</li>}
      {change.waiver && <li>{words.gate.waivedUntil(change.waiver.expires, change.waiver.owner)}</li>}
    </ul>
    {change.file && <p className="mono quiet">{change.line ? `${change.file}:${change.line}` : change.file}</p>}
    <WaiverForm repository={repository} change={change} />
  </article>
);

const AffectedList = ({ verdict }: { verdict: VerdictRecord }) => (
  <Section title={words.gate.everything} count={verdict.affected.length}>
    {verdict.affected.length > 0 && (
      <table className="table plain stacks">
        <thead>
          <tr>
            {[words.gate.node, words.gate.kind, words.gate.how, words.gate.owners, words.gate.changes].map((one) => (
              <th key={one} scope="col">
                {one}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {verdict.affected.map((one) => (
            <tr key={one.node}>
              <th scope="row">
                <NodeOrHidden id={one.node} />
              </th>
              <td data-label={words.gate.kind}>{one.kind}</td>
              <td data-label={words.gate.how}>
                {one.by}, {words.gate.hops(one.distance)}
              </td>
              <td data-label={words.gate.owners}>{one.owners.join(", ") || words.gate.nobody}</td>
              <td className="mono" data-label={words.gate.changes}>
                {one.changes.join(" ")}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
    <Counted
      counts={[
        [verdict.hidden, words.gate.hiddenNodes],
        [verdict.more, words.gate.more],
      ]}
    />
  </Section>
);

const Counted = ({ counts }: { counts: readonly [number, (count: number) => string][] }) =>
  counts.map(([count, text]) =>
    count > 0 ? (
      <p key={text(count)} className="quiet">
        {text(count)}
      </p>
    ) : null,
  );

const Notes = ({ verdict }: { verdict: VerdictRecord }) => {
  const notes = [
    ...verdict.unjudged.map(words.gate.unjudged),
    ...verdict.notices,
    ...verdict.stale_approvals.map((one) => words.gate.stale(one.person, one.commit.slice(0, 12))),
    ...verdict.expired_waivers.map((one) => words.gate.lapsed(one.change, one.expires)),
    ...(verdict.skipped ? [words.gate.skipped(verdict.skipped)] : []),
    ...(verdict.hidden_notices ? [words.gate.hiddenNotices(verdict.hidden_notices)] : []),
  ];
  if (!notes.length) return null;
  return (
    <Section title={words.gate.notes}>
      <ul>
        {notes.map((one) => (
          <li key={one}>{one}</li>
        ))}
      </ul>
    </Section>
  );
};
