// The quality score of a dataset: a number, the dataset that limits it, and how many say nothing.

import { useAnswer, type QualityScore } from "../../api";
import { nodeAddress } from "../../address";
import { Go } from "../../components/elements";
import { shortName } from "../../names";
import { words } from "../../texts";

export const Quality = ({ node, asOf }: { node: string; asOf?: string }) => {
  const query = useAnswer<{ data: QualityScore }>(
    `../api/v2/nodes/${encodeURIComponent(node)}/quality-score${asOf ? `?${new URLSearchParams({ as_of: asOf })}` : ""}`,
  );
  const found = query.answer?.data;
  if (!found) return null;
  const score = found.score === null ? words.node.qualityUnknown : found.score.toFixed(2);
  return (
    <>
      <dt>{words.node.quality}</dt>
      <dd>
        {found.score === null || found.exact ? score : words.node.qualityAtMost(score)}
        {found.limited_by && found.limited_by !== node && (
          <>
            {" "}
            {words.node.qualityLimit[found.part ?? ""]}{" "}
            <Go to={nodeAddress(found.limited_by)}>{shortName(found.limited_by)}</Go>
          </>
        )}
        {found.limited_by === node && ` · ${found.part}`}
        {found.unknown_datasets > 0 && ` · ${words.node.qualitySilent(found.unknown_datasets)}`}
      </dd>
    </>
  );
};
