// The contract of a dataset: the version that holds, what the reported columns lack of it, and all versions.

import { useAnswer, type ContractHistory } from "../../api";
import { Awaited, When } from "../../components/elements";
import { Section } from "../../components/Section";
import { words } from "../../texts";

export const Contract = ({ node }: { node: string }) => {
  const query = useAnswer<{ data: ContractHistory }>(`../api/v2/nodes/${encodeURIComponent(node)}/contract`);
  const { contract, evaluation, versions } = query.answer?.data ?? {};
  return (
    <Section title={words.contract.title}>
      <Awaited of={query} />
      {contract && (
        <p>
          {[contract.id, contract.version, contract.status].filter(Boolean).join(" · ")}
          {contract.owners.length > 0 && ` · ${words.contract.owners(contract.owners)}`}
        </p>
      )}
      {evaluation?.not_evaluated && <p className="quiet">{words.contract.notEvaluated(evaluation.not_evaluated)}</p>}
      {evaluation && evaluation.violations.length > 0 && (
        <ul className="violations">
          {evaluation.violations.map((one) => (
            <li key={`${one.rule} ${one.column}`}>
              <span className="mono">{one.column}</span>: {words.contract.violation(one.expected, one.observed)}
            </li>
          ))}
        </ul>
      )}
      {versions && versions.length > 1 && (
        <ol className="versions">
          {versions.map((one) => (
            <li key={`${one.id} ${one.version} ${one.applied_at}`}>
              {one.version || words.contract.ended} · <When time={one.applied_at} />
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
};
