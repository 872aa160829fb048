// The accepted lineage of a dataset: who accepted it, and each edge that differs from it, now or at a time.

import { apiPath, useAnswer, type LineageBaseline as Baseline, type One } from "../../api";
import { NodeLink, When } from "../../components/elements";
import { Section } from "../../components/Section";
import { words } from "../../texts";

const LOOKS: Record<string, string> = { ok: "chip-good", drifted: "chip-bad" };
const SHOWN = 20;

export const LineageBaseline = ({ node, asOf }: { node: string; asOf?: string }) => {
  const path = apiPath(`nodes/${encodeURIComponent(node)}/lineage-baseline`, asOf ? { as_of: asOf } : {});
  const found = useAnswer<One<Baseline>>(path).answer?.data;
  if (!found?.accepted_at) return null;
  const { baseline } = words.node;
  const more = found.changes.length - SHOWN + found.more;
  return (
    <Section title={baseline.title}>
      <p className="chips">
        <span className={`chip ${LOOKS[found.state] ?? "chip-warn"}`}>
          {baseline.states[found.state] ?? found.state}
        </span>
        <span>
          {baseline.acceptedBy(found.accepted_by)} <When time={found.accepted_at} />
        </span>
      </p>
      {found.reason && <p className="quiet breaks">{found.reason}</p>}
      <ul className="slos">
        {found.changes.slice(0, SHOWN).map((one) => (
          <li key={`${one.change} ${one.source} ${one.target}`} className="breaks">
            {baseline.changes[one.change] ?? one.change}:{" "}
            {one.source ? <NodeLink id={one.source} /> : baseline.noSource} → <NodeLink id={one.target} />
          </li>
        ))}
      </ul>
      {more > 0 && <p>{baseline.more(more)}</p>}
      {found.hidden > 0 && <p className="hidden-note">{baseline.hidden(found.hidden)}</p>}
      {found.forgotten > 0 && <p>{baseline.forgotten(found.forgotten)}</p>}
    </Section>
  );
};
