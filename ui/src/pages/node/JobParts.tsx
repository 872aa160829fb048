// The parts of a page that only jobs have: runs, SQL, source code.

import type { Job } from "../../api";
import { Runs } from "../../components/Runs";
import { Section } from "../../components/Section";
import { Durations } from "../../runs/Durations";
import { words } from "../../texts";

export const JobParts = ({ job }: { job: Job }) => {
  const sql = (job.facets["sql"] as { query?: unknown } | undefined)?.query;
  const source = job.facets["sourceCodeLocation"] as { url?: unknown; version?: unknown } | undefined;
  const url = typeof source?.url === "string" ? source.url : "";
  return (
    <>
      <Section title={words.node.runs} count={job.latest_runs.length}>
        <Durations runs={job.latest_runs} />
        <Runs runs={job.latest_runs} isWide />
      </Section>
      {typeof sql === "string" && (
        <Section title={words.node.sql}>
          {job.sql?.status === "unrelated" && (
            <p className="warn">{words.node.unrelatedSql((job.sql.problems ?? []).join("; "))}</p>
          )}
          <pre tabIndex={0}>{sql}</pre>
        </Section>
      )}
      {url && (
        <Section title={words.node.source}>
          <p className="breaks">
            {/^https?:\/\//.test(url) ? (
              <a href={url} rel="noreferrer noopener" target="_blank">
                {url}
              </a>
            ) : (
              <code>{url}</code>
            )}{" "}
            {typeof source?.version === "string" && <code className="chip">{source.version}</code>}
          </p>
        </Section>
      )}
    </>
  );
};
