// The declared objectives, of all datasets or of one: state, and what is left of the budget.

import "../styles/slos.css";
import { usePages, type Envelope, type SloList, type SloRow } from "../api";
import { pageAddress } from "../address";
import { Paged } from "../dashboards/Paged";
import { Table } from "../gate/Table";
import { Go, Icon, NodeLink, When } from "../components/elements";
import { Section } from "../components/Section";
import { words } from "../texts";
import { StateChip } from "./StateChip";

const SHOWN = 50;

export const SlosPage = () => {
  const listing = usePages<Envelope<SloList>>("slos", { limit: SHOWN });
  const rows = listing.pages.flatMap((page) => page.data.slos);
  const hidden = listing.pages[0]?.data.hidden ?? 0;
  const { state, name, dataset, target, left, since } = words.slos;
  return (
    <div className="page">
      <header className="page-head">
        <div>
          <h1>{words.slos.title}</h1>
          <p>{words.slos.about}</p>
        </div>
      </header>
      <Section title={words.slos.every}>
        <Paged of={listing} isEmpty={!rows.length} none={words.slos.none}>
          {rows.length > 0 && (
            <Table heads={[state, name, dataset, target, left, since]}>
              {rows.map((one) => (
                <tr key={one.id}>
                  <td>
                    <StateChip state={one.state} notify={one.notify} />
                  </td>
                  <th scope="row">
                    <SloLink of={one} />
                  </th>
                  <td data-label={dataset} className="slo-dataset">
                    <NodeLink id={one.dataset} />
                  </td>
                  <td data-label={target}>{words.slos.targetOf(one.target, one.window_days)}</td>
                  <td data-label={left}>{one.budget ? leftOf(one.budget) : "–"}</td>
                  <td data-label={since}>
                    <When time={one.since} />
                  </td>
                </tr>
              ))}
            </Table>
          )}
        </Paged>
        <Hidden count={hidden} />
      </Section>
    </div>
  );
};

/** The objectives of a dataset, in the margin of its page. */
export const SlosOf = ({ node }: { node: string }) => {
  const listing = usePages<Envelope<SloList>>("slos", { dataset: node, limit: SHOWN });
  const rows = listing.pages.flatMap((page) => page.data.slos);
  return (
    <Section title={words.slos.title}>
      <Paged of={listing} isEmpty={!rows.length} none={words.slos.noneHere} lines={1}>
        <ul className="slos">
          {rows.map((one) => (
            <li key={one.id}>
              <StateChip state={one.state} notify={one.notify} /> <SloLink of={one} />
            </li>
          ))}
        </ul>
      </Paged>
      <Hidden count={listing.pages[0]?.data.hidden ?? 0} />
      <Go to="./slos" className="link-button">
        {words.slos.every}
      </Go>
    </Section>
  );
};

/** The share of a budget that is left. */
export const leftOf = ({ remaining }: NonNullable<SloRow["budget"]>): string =>
  remaining === null ? words.slos.noneMay : words.slos.percent(remaining);

const SloLink = ({ of }: { of: SloRow }) => (
  <Go to={pageAddress("slo", { slo: of.id })} title={`${of.service}/${of.name}`} className="link-button">
    {of.service}/{of.name}
  </Go>
);

const Hidden = ({ count }: { count: number }) =>
  count > 0 && (
    <p className="hidden-note" title={words.hidden.ask}>
      <Icon name="lock" size={14} />
      {words.slos.hidden(count)}
    </p>
  );
