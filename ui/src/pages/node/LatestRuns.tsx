// Of a dataset: the run that last wrote it, the last run that was to write it, and the latest quality checks.

import { useAnswer, type Dataset, type Run } from "../../api";
import { useTraits } from "../../facts/traits";
import { isHiddenKey } from "../../names";
import { runId, RunLink, State, When } from "../../components/elements";
import { words } from "../../texts";

/** The run that last wrote a dataset, and how many rows it reported. */
export const LastWrite = ({ of, node }: { of: NonNullable<Dataset["last_write"]>; node: string }) => {
  const run = runId(of.run);
  const query = useAnswer<{ data: Run[] }>(isHiddenKey(run) ? null : `../api/v2/runs/${encodeURIComponent(run)}`);
  const written = query.answer?.data.flatMap((run) => run.outputs).find((one) => one.dataset === node);
  const rows = (written?.facets["outputStatistics"] as { rowCount?: unknown } | undefined)?.rowCount;
  return (
    <>
      <dt>{words.node.lastWrite}</dt>
      <dd>
        <When time={of.time} /> · <RunLink run={of.run} />
      </dd>
      {typeof rows === "number" && (
        <>
          <dt>{words.node.rows}</dt>
          <dd>{rows.toLocaleString("en")}</dd>
        </>
      )}
    </>
  );
};

/** The latest quality checks, and how the latest run ended that writes it. */
export const Checks = ({ node }: { node: string }) => {
  const known = useTraits([node])?.get(node);
  return (
    <>
      {known?.latest && (
        <>
          <dt>{words.list.run}</dt>
          <dd>
            <State state={known.latest.state} /> · <RunLink run={known.latest.run} />
          </dd>
        </>
      )}
      {known?.quality && (
        <>
          <dt>{words.node.checks}</dt>
          <dd className={known.quality.failed ? "bad" : undefined}>
            {[
              known.quality.failed ? words.lenses.failed(known.quality.failed) : "",
              known.quality.warned ? words.lenses.warned(known.quality.warned) : "",
              known.quality.held ? words.lenses.held(known.quality.held) : "",
            ]
              .filter(Boolean)
              .join(", ")}
          </dd>
        </>
      )}
    </>
  );
};
