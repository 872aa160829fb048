// The latest versions of a node's schema and lineage.

import { apiPath, useAnswer, type Envelope, type History } from "../../api";
import { VersionView } from "../../explorer/panels/TimePanel";
import { Awaited } from "../../components/elements";
import { Section } from "../../components/Section";
import { words } from "../../texts";

export const NodeHistory = ({ node }: { node: string }) => {
  const query = useAnswer<Envelope<History>>(apiPath("history", { node, limit: 8 }));
  return (
    <Section title={words.node.history} count={query.answer?.page?.total}>
      <Awaited of={query} />
      {query.answer && (
        <ol className="versions">
          {query.answer.data.versions.map((one, number) => (
            <VersionView key={number} version={one} />
          ))}
        </ol>
      )}
    </Section>
  );
};
