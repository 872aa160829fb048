// The lists of gates: verdicts, approvals and waivers, of all repositories or of one, and promotions.

import "../styles/gate.css";
import { usePages, type ApprovalRow, type Listed, type VerdictRow, type WaiverRow } from "../api";
import { pageAddress } from "../address";
import { Paged } from "../dashboards/Paged";
import { Go, When } from "../components/elements";
import { Section } from "../components/Section";
import { words } from "../texts";
import { verdictAddress } from "./address";
import { Promotions } from "./Promotions";
import { Table } from "./Table";
import { VerdictChip } from "./VerdictChip";
import { EndWaiver } from "./Waivers";

const SHOWN = 25;

export const GatesPage = ({ repository }: { repository: string }) => (
  <div className="page verdict">
    <header className="page-head">
      <div>
        <h1>{repository || words.gate.title}</h1>
        <p>{words.gate.about}</p>
      </div>
      {repository && (
        <Go to={pageAddress("gates", {})} className="button">
          {words.gate.everyRepository}
        </Go>
      )}
    </header>
    <Verdicts repository={repository} />
    <ApprovalList repository={repository} />
    <Waivers repository={repository} />
    {!repository && <Promotions />}
  </div>
);

const Verdicts = ({ repository }: { repository: string }) => {
  const listing = usePages<Listed<VerdictRow>>("gate/verdicts", { limit: SHOWN, repository });
  const rows = listing.pages.flatMap((page) => page.data);
  const { verdict, commit, changes, affected, hidden, recorded } = words.gate;
  return (
    <Section title={words.gate.verdicts}>
      <Paged of={listing} isEmpty={!rows.length} none={words.gate.verdictsNone}>
        <Table heads={[verdict, words.gate.repository, commit, changes, affected, hidden, recorded]}>
          {rows.map((one) => (
            <tr key={`${one.repository} ${one.commit}`}>
              <td>
                <VerdictChip verdict={one.verdict} />
              </td>
              <th scope="row">
                <Go to={pageAddress("gates", { repository: one.repository })}>{one.repository}</Go>
              </th>
              <td>
                <Go to={verdictAddress(one.repository, one.commit)} className="mono">
                  {one.commit.slice(0, 12)}
                </Go>
              </td>
              <td data-label={changes}>{one.changes}</td>
              <td data-label={affected}>{one.affected}</td>
              <td data-label={hidden}>{one.hidden}</td>
              <td>
                <When time={one.recorded_at} /> {words.gate.by} {one.recorded_by}
              </td>
            </tr>
          ))}
        </Table>
      </Paged>
    </Section>
  );
};

const ApprovalList = ({ repository }: { repository: string }) => {
  const listing = usePages<Listed<ApprovalRow>>("gate/approvals", { limit: SHOWN, repository });
  const rows = listing.pages.flatMap((page) => page.data);
  return (
    <Section title={words.gate.approvals}>
      <Paged of={listing} isEmpty={!rows.length} none={words.gate.approvalsNone}>
        <Table heads={[words.gate.person, words.gate.repository, words.gate.commit, words.gate.recorded]}>
          {rows.map((one) => (
            <tr key={`${one.repository} ${one.commit} ${one.person}`}>
              <th scope="row">{one.person}</th>
              <td>{one.repository}</td>
              <td>
                <Go to={verdictAddress(one.repository, one.commit)} className="mono">
                  {one.commit.slice(0, 12)}
                </Go>
              </td>
              <td>
                <When time={one.recorded_at} />
              </td>
            </tr>
          ))}
        </Table>
      </Paged>
    </Section>
  );
};

const Waivers = ({ repository }: { repository: string }) => {
  const listing = usePages<Listed<WaiverRow>>("gate/waivers", { limit: SHOWN, repository });
  const rows = listing.pages.flatMap((page) => page.data);
  const { change, owner, reason, expires } = words.gate;
  return (
    <Section title={words.gate.waivers}>
      <Paged of={listing} isEmpty={!rows.length} none={words.gate.waiversNone}>
        <Table heads={[change, words.gate.repository, owner, reason, expires]}>
          {rows.map((one) => (
            <tr key={`${one.repository} ${one.change}`}>
              <th scope="row" className="mono">
                {one.change}
              </th>
              <td>{one.repository}</td>
              <td data-label={owner}>{one.owner}</td>
              <td data-label={reason}>{one.reason || "–"}</td>
              <td data-label={expires}>
                {one.expires}{" "}
                {one.is_expired ? (
                  <span className="chip chip-warn">{words.gate.expired}</span>
                ) : (
                  <EndWaiver repository={one.repository} change={one.change} />
                )}
              </td>
            </tr>
          ))}
        </Table>
      </Paged>
    </Section>
  );
};
