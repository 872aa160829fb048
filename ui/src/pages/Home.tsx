// The home page: search, then recent activity.

import { useMemo, type ReactNode } from "react";
import {
  apiPath,
  useAnswer,
  useAnswers,
  type Change,
  type Diff,
  type Envelope,
  type ReceivedEvent,
  type Run,
  type Status,
  type Trouble,
  type Troubles,
} from "../api";
import { explorerAddress, fresh } from "../address";
import { useTraits } from "../facts/traits";
import { isHidden, shortName } from "../names";
import { Awaited, Go, Icon, NodeLink, runId, RunLink, State, Took, When } from "../components/elements";
import { words } from "../texts";

const LATEST = 300;
const SHOWN = 6;
const minutes = (): number => Math.floor(Date.now() / 60_000);

export const Home = ({ onSearch }: { onSearch: () => void }) => {
  const status = useAnswer<Status>("../api/v2/status");
  const events = useAnswer<{ data: ReceivedEvent[] }>(apiPath("events", { limit: LATEST }));
  return (
    <div className="home">
      <section className="hero">
        <h1>{words.home.title}</h1>
        <p>{words.tagline}</p>
        <button type="button" className="hero-search" onClick={onSearch}>
          <Icon name="search" size={20} />
          <span>{words.search.placeholder}</span>
          <kbd>/</kbd>
        </button>
      </section>
      <div className="cards">
        <div>
          <Failing />
          <Late />
          <Runs
            events={events}
            title={words.home.running}
            none={words.home.runningNone}
            states={["START", "RUNNING"]}
          />
        </div>
        <div>
          <Changed />
          <Runs events={events} title={words.home.latest} none={words.node.none} states={["COMPLETE"]} />
        </div>
      </div>
      <Tiles status={status.answer} />
    </div>
  );
};

const Tiles = ({ status }: { status: Status | undefined }) => {
  const { tiles } = words.home;
  const all: [string, number | null | undefined, string, boolean, string][] = [
    [tiles.events, status?.store?.applied, tiles.eventsOf, false, "./board?of=debug"],
    [
      tiles.waiting,
      status?.waiting.records,
      status ? tiles.waitingOf(status.waiting.seconds ?? 0) : "",
      (status?.waiting.seconds ?? 0) > 60,
      "./board?of=oncall",
    ],
    [
      tiles.quarantined,
      status?.store?.quarantined,
      tiles.quarantinedOf,
      (status?.store?.quarantined ?? 0) > 0,
      "./board?of=debug&show=quarantine",
    ],
    [tiles.missing, status?.missing, tiles.missingOf, (status?.missing ?? 0) > 0, "./board?of=oncall"],
  ];
  return (
    <dl className="tiles">
      {all.map(([name, value, of, isBad, to]) => (
        <div key={name} className={isBad ? "tile tile-bad" : "tile"}>
          <dt>
            <Go to={to}>{name}</Go>
          </dt>
          <dd>
            {value === undefined || value === null ? "–" : value.toLocaleString("en")}
            <small>{of}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
};

interface RunsProps {
  events: { answer?: { data: ReceivedEvent[] }; waiting: boolean };
  title: string;
  none: string;
  states: string[];
}

/** Runs whose last event is one of these states, the latest first. */
const Runs = ({ events, title, none, states }: RunsProps) => {
  const ids = useMemo(() => {
    const last = new Map<string, string>();
    for (const one of events.answer?.data ?? [])
      if (one.subject?.startsWith("run:") && one.state && !last.has(one.subject)) last.set(one.subject, one.state);
    return [...last].flatMap(([run, state]) => (states.includes(state) ? [runId(run)] : [])).slice(0, SHOWN);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- states are constants
  }, [events.answer]);
  const runs = useAnswers<{ data: Run[] }>(ids.map((id) => `../api/v2/runs/${encodeURIComponent(id)}`));
  return (
    <section className="card">
      <h2>{title}</h2>
      <Awaited of={events} />
      {events.answer && !ids.length && <p className="quiet">{none}</p>}
      {ids.length > 0 && (
        <ul className="run-list">
          {runs
            .flatMap((one) => one.answer?.data.find((run) => states.includes(run.state)) ?? [])
            .map((run) => (
              <li key={run.run}>
                <State state={run.state} quiet />
                <div className="run-main">
                  <NodeLink id={run.job} />
                  <RunError run={run} />
                </div>
                <span className="run-side">
                  <When time={run.last_seen} />
                  <span className="quiet">
                    <Took from={run.started_at} to={run.ended_at} /> <RunLink run={run.run} />
                  </span>
                </span>
              </li>
            ))}
        </ul>
      )}
      {events.answer && <p className="card-foot">{words.home.of(events.answer.data.length)}</p>}
    </section>
  );
};

/** Jobs in trouble, those with the most downstream first; and by which rule. */
const InTrouble = ({ trouble, title, none, row }: InTroubleProps) => {
  const query = useAnswer<{ data: Troubles }>(apiPath("troubles", { trouble, limit: SHOWN }));
  const jobs = query.answer?.data.jobs ?? [];
  return (
    <section className="card">
      <h2>{title}</h2>
      <Awaited of={query} />
      {query.answer && !jobs.length && <p className="quiet">{none}</p>}
      {jobs.length > 0 && (
        <ul className="run-list">
          {jobs.map((one) => (
            <li key={one.job}>{row(one)}</li>
          ))}
        </ul>
      )}
      <p className="card-foot">
        <Go to="./board?of=oncall">{words.boards.tiles[trouble]?.[1]}</Go>
      </p>
    </section>
  );
};

interface InTroubleProps {
  trouble: "failing" | "late";
  title: string;
  none: string;
  row: (one: Trouble) => ReactNode;
}

const Failing = () => (
  <InTrouble
    trouble="failing"
    title={words.home.failing}
    none={words.home.failingNone}
    row={({ job, last }) => (
      <>
        <State state={last?.state ?? "FAIL"} quiet />
        <div className="run-main">
          <NodeLink id={job} />
          {last?.error && <p className="run-error">{last.error}</p>}
        </div>
        <span className="run-side">
          <When time={last?.ended_at} />
          <span className="quiet">
            <Took from={last?.started_at ?? null} to={last?.ended_at ?? null} /> {last && <RunLink run={last.run} />}
          </span>
        </span>
      </>
    )}
  />
);

const Late = () => (
  <InTrouble
    trouble="late"
    title={words.home.late}
    none={words.home.lateNone}
    row={({ job, since }) => (
      <>
        <div className="run-main">
          <NodeLink id={job} />
        </div>
        <span className="run-side">
          <When time={since} />
          <span className="quiet">{words.home.lateSince}</span>
        </span>
      </>
    )}
  />
);

const RunError = ({ run }: { run: Run }) => (run.error === null ? null : <p className="run-error">{run.error}</p>);

const Changed = () => {
  // Rounded to the minute, so that queries within a minute share a cache entry.
  const before = useMemo(() => new Date((minutes() - 1_440) * 60_000).toISOString().slice(0, 16), []);
  const query = useAnswer<Envelope<Diff>>(apiPath("diff", { before, limit: 200 }));
  const all = useMemo(() => byTarget(query.answer?.data.changes ?? []), [query.answer]);
  const edges = all.filter(({ node }) => !isHidden(node));
  useTraits(edges.slice(0, SHOWN).map(({ node }) => node));
  const counts = query.answer?.data.counts ?? {};
  return (
    <section className="card">
      <h2>{words.home.changed}</h2>
      <Awaited of={query} />
      {query.answer && !Object.keys(counts).length && <p className="quiet">{words.home.changedNone}</p>}
      <p className="chips">
        {Object.entries(counts).flatMap(([what, of]) =>
          Object.entries(of)
            .filter(([, count]) => count > 0)
            .map(([how, count]) => (
              <span key={what + how} className={`chip fate-${how}`}>
                {how === "added" ? "+" : how === "removed" ? "−" : "~"}
                {words.home.whats[what]?.(count) ?? count}
              </span>
            )),
        )}
      </p>
      <ul className="run-list">
        {edges.slice(0, SHOWN).map(({ node, change }) => (
          <li key={node + change}>
            <span className={`sign fate-${change}`} title={words.home.changes[change]}>
              {change === "added" ? "+" : change === "removed" ? "−" : "~"}
            </span>
            <div className="run-main">
              <NodeLink id={node} />
            </div>
            <Go
              to={explorerAddress({ ...fresh(node), versus: before, panel: "time" })}
              className="link-button"
              label={`${words.time.compare}: ${shortName(node)}`}
            >
              {words.time.compare}
            </Go>
          </li>
        ))}
      </ul>
      {edges.length < all.length && (
        <p className="hidden-note" title={words.hidden.ask}>
          <Icon name="lock" size={14} />
          {words.hidden.changes(all.length - edges.length)}
        </p>
      )}
      {query.answer?.page?.total ? <p className="card-foot">{words.home.allChanges(query.answer.page.total)}</p> : null}
    </section>
  );
};

/** Datasets and jobs that were added, removed or changed; downstream changes are in their own diff. */
const byTarget = (changes: readonly Change[]): { node: string; change: string }[] =>
  changes.flatMap((one) =>
    one.node && (one.what === "dataset" || one.what === "job") ? [{ node: one.node, change: one.change }] : [],
  );
