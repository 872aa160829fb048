// The last verdicts on promotions of datasets, models and jobs, which hooks of registries read.

import { usePages, type Listed, type PromotionRow } from "../api";
import { Paged } from "../dashboards/Paged";
import { NodeLink, When } from "../components/elements";
import { Section } from "../components/Section";
import { words } from "../texts";
import { Table } from "./Table";
import { VerdictChip } from "./VerdictChip";

const SHOWN = 25;

export const Promotions = () => {
  const listing = usePages<Listed<PromotionRow>>("gate/promotions", { limit: SHOWN });
  const rows = listing.pages.flatMap((page) => page.data);
  const { verdict, node, coverage, findings, recorded } = words.gate;
  return (
    <Section title={words.gate.promotions}>
      <Paged of={listing} isEmpty={!rows.length} none={words.gate.promotionsNone}>
        <Table heads={[verdict, node, coverage, findings, recorded]}>
          {rows.map((one) => (
            <tr key={one.node}>
              <td>
                <VerdictChip verdict={one.promotion.verdict} />
              </td>
              <th scope="row">
                <NodeLink id={one.node} whole />
              </th>
              <td data-label={coverage}>{words.gate.covered(one.promotion.coverage ?? null)}</td>
              <td data-label={findings}>
                <Findings of={one} />
              </td>
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

const Findings = ({ of }: { of: PromotionRow }) => {
  if (!of.promotion.findings.length) return words.gate.findingsNone;
  return (
    <ul>
      {of.promotion.findings.map((one) => (
        <li key={`${one.criterion} ${one.text}`}>
          <b>{one.criterion}</b>: {one.text}
        </li>
      ))}
    </ul>
  );
};
