// The incidents: what is wrong now, and what was resolved in the last 30 days.

import "../styles/slos.css";
import { usePages, type Envelope, type IncidentList } from "../api";
import { pageAddress } from "../address";
import { Paged } from "../dashboards/Paged";
import { Table } from "../gate/Table";
import { Go, Icon, When } from "../components/elements";
import { Section } from "../components/Section";
import { words } from "../texts";
import { IncidentChip } from "./IncidentChip";

const SHOWN = 50;

export const IncidentsPage = () => (
  <div className="page">
    <header className="page-head">
      <div>
        <h1>{words.incidents.title}</h1>
        <p>{words.incidents.about}</p>
      </div>
    </header>
    <Listed title={words.incidents.unresolved} none={words.incidents.none} />
    <Listed title={words.incidents.resolved} none={words.incidents.noneResolved} state="resolved" />
  </div>
);

const Listed = ({ title, none, state }: { title: string; none: string; state?: string }) => {
  const listing = usePages<Envelope<IncidentList>>("incidents", { limit: SHOWN, ...(state ? { state } : {}) });
  const rows = listing.pages.flatMap((page) => page.data.incidents);
  const hidden = listing.pages[0]?.data.hidden ?? 0;
  const { state: head, what, since, whose } = words.incidents;
  return (
    <Section title={title}>
      <Paged of={listing} isEmpty={!rows.length} none={none}>
        {rows.length > 0 && (
          <Table heads={[head, what, since, whose]}>
            {rows.map((one) => (
              <tr key={one.id}>
                <td>
                  <IncidentChip state={one.state} notify={one.notify} isSilenced={!!one.silenced_until} />
                </td>
                <th scope="row" className="breaks">
                  <Go to={pageAddress("incident", { incident: one.id })} title={one.title} className="link-button">
                    {one.title}
                  </Go>
                </th>
                <td data-label={since}>
                  <When time={one.since} />
                </td>
                <td data-label={whose}>{one.assignee ?? one.routed_to ?? "–"}</td>
              </tr>
            ))}
          </Table>
        )}
      </Paged>
      {hidden > 0 && (
        <p className="hidden-note" title={words.hidden.ask}>
          <Icon name="lock" size={14} />
          {words.incidents.hidden(hidden)}
        </p>
      )}
    </Section>
  );
};
