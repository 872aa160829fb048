// How long the last runs of a job took, side by side. The table of runs has the same numbers as text.

import { pageAddress } from "../address";
import type { Run } from "../api";
import { exact, Go, runId } from "../components/elements";
import { words } from "../texts";

/** In seconds; none of a run that has not begun or not ended. */
const tookOf = (run: Run): number | undefined =>
  run.started_at && run.ended_at ? (Date.parse(run.ended_at) - Date.parse(run.started_at)) / 1_000 : undefined;

export const Durations = ({ runs }: { runs: readonly Run[] }) => {
  // The first on the left.
  const all = [...runs].reverse().map((run) => ({ run, took: tookOf(run) }));
  const known = all.flatMap(({ took }) => took ?? []);
  if (known.length < 2) return null;
  const most = Math.max(...known, 0.001);
  return (
    <figure className="durations">
      <figcaption>
        {words.runs.durations} <span className="quiet">{words.runs.longest(words.took(most))}</span>
      </figcaption>
      <ol>
        {all.map(({ run, took }) => {
          const name = `${words.states[run.state] ?? run.state}, ${took === undefined ? words.runs.noEnd : words.took(took)}, ${exact(run.started_at ?? run.last_seen ?? run.first_seen ?? "1970")}`;
          return (
            <li key={run.run}>
              <Go to={pageAddress("run", { run: runId(run.run) })} label={name} title={name}>
                <span
                  className={`duration state-${run.state.toLowerCase()}`}
                  style={{ height: `${took === undefined ? 0 : Math.max(2, (100 * took) / most)}%` }}
                />
              </Go>
            </li>
          );
        })}
      </ol>
    </figure>
  );
};
