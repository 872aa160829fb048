// The latest versions of a node's schema and lineage.

import { asked, useAnswer, type Envelope, type History } from "../../api";
import { VersionView } from "../../explorer/panels/TimePanel";
import { Awaited } from "../../parts/bits";
import { Section } from "../../parts/Section";
import { words } from "../../words";

export const NodeHistory = ({ node }: { node: string }) => {
  const told = useAnswer<Envelope<History>>(asked("history", { node, limit: 8 }));
  return (
    <Section title={words.node.history} count={told.answer?.page?.total}>
      <Awaited of={told} />
      {told.answer && (
        <ol className="versions">
          {told.answer.data.versions.map((one, number) => (
            <VersionView key={number} version={one} />
          ))}
        </ol>
      )}
    </Section>
  );
};
