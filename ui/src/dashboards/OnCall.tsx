// The on-call dashboard: broken jobs, their downstream nodes, and their last good runs.

import { useAnswer, type RunOf, type Status, type Trouble, type Troubles } from "../api";
import { explorerAddress, fresh } from "../address";
import { changesAddress } from "../changes/address";
import { shortName } from "../names";
import { Go, Icon, NodeLink, runId, RunLink, When } from "../components/elements";
import { words } from "../texts";
import { usePages } from "../api";
import { Paged } from "./Paged";
import { Burning, OnCallIncidents, Resolved } from "./OnCallIncidents";
import { Bar, Tile } from "./Tile";
import { boardAddress } from "./dashboardAddress";

const LAG_SECONDS = 60;

export const OnCall = () => {
  const status = useAnswer<Status>("../api/v2/status");
  const listing = usePages<{ data: Troubles; page: { next: string | null } }>("troubles", { limit: 20 });
  const counts = listing.pages[0]?.data;
  const rows = listing.pages.flatMap((page) => page.data.jobs);
  return (
    <>
      <div className="board-columns">
        <OnCallIncidents />
        <aside>
          <Burning />
          <Resolved />
        </aside>
      </div>
      <Tiles status={status.answer} troubles={counts} />
      <div className="board-columns">
        <section className="section" id="troubles">
          <h2>{words.boards.troubles}</h2>
          <p className="quiet">{words.boards.troublesOf}</p>
          <Paged of={listing} isEmpty={!rows.length} none={<AllWell />} lines={6}>
            <ul className="troubles">
              {rows.map((one) => (
                <TroubleView key={one.job + one.trouble} one={one} />
              ))}
            </ul>
          </Paged>
          {counts && counts.hidden > 0 && <p className="quiet">{words.boards.hidden(counts.hidden)}</p>}
        </section>
        <aside>
          <Reasons status={status.answer} />
          <Producers status={status.answer} />
        </aside>
      </div>
    </>
  );
};

const AllWell = () => (
  <p className="all-well">
    <Icon name="check" size={18} />
    {words.boards.troublesNone}
  </p>
);

const Tiles = ({ status, troubles }: { status: Status | undefined; troubles: Troubles | undefined }) => {
  const seconds = status?.waiting.seconds ?? 0;
  const { store } = status ?? {};
  const all: [string, number | string | null | undefined, boolean, string | undefined, string?][] = [
    ["failing", troubles?.failing, (troubles?.failing ?? 0) > 0, "#troubles"],
    ["late", troubles?.late, (troubles?.late ?? 0) > 0, "#troubles"],
    [
      "lag",
      status && (seconds > 0 ? words.took(seconds) : words.boards.upToDate),
      seconds > LAG_SECONDS,
      boardAddress("debug"),
      status && words.boards.waiting(status.waiting.records),
    ],
    ["lost", status?.missing, (status?.missing ?? 0) > 0, boardAddress("debug", { show: "lost" })],
    ["refused", store?.quarantined, false, boardAddress("debug", { show: "quarantine" })],
    ["open", store?.runs_without_end, false, boardAddress("debug", { show: "unfinished" })],
  ];
  return (
    <div className="metrics metrics-6">
      {all.map(([key, value, isBad, to, note]) => {
        const [name, formula] = words.boards.tiles[key]!;
        const shown = typeof value === "number" ? value.toLocaleString("en") : (value ?? words.boards.none);
        return <Tile key={key} name={name} formula={formula} value={shown} note={note} isBad={isBad} to={to} />;
      })}
    </div>
  );
};

/** The period of the changes that a trouble leads to. */
const LOOKED_BACK = "7d";

const TroubleView = ({ one }: { one: Trouble }) => {
  const output = one.outputs[0];
  const isFailing = one.trouble === "failing";
  return (
    <li className={`trouble-item trouble-${one.trouble}`}>
      <div className="trouble-head">
        <NodeLink id={one.job} />
        <span className={`chip ${isFailing ? "chip-bad" : "chip-tag"}`}>
          <Icon name={isFailing ? "close" : "run"} size={13} />
          {isFailing ? words.boards.failing : words.boards.late}
        </span>
      </div>
      {one.last?.error && <p className="run-error">{one.last.error}</p>}
      <dl className="trouble-facts">
        <div>
          <dt>
            {isFailing
              ? words.boards.failures(one.failures)
              : words.boards.expected(words.took(one.longest_pause ?? 0))}
          </dt>
          <dd>
            <When time={one.since} /> {one.last && <RunLink run={runId(one.last.run)} />}
          </dd>
        </div>
        <div>
          <dt>{words.boards.downstream}</dt>
          <dd>
            <Downstream of={one.downstream} />
          </dd>
        </div>
        <div>
          <dt>{words.boards.lastGood}</dt>
          <dd>
            <LastGood good={one.last_good} last={isFailing ? one.last : null} />
          </dd>
        </div>
      </dl>
      <p className="chips">
        {output && (
          <Go
            to={explorerAddress({ ...fresh(output), lens: "run", panel: "impact" })}
            className="link-button"
            label={`${words.boards.impact}: ${shortName(output)}`}
          >
            {words.boards.impact}
            <Icon name="right" size={13} />
          </Go>
        )}
        <Go
          to={changesAddress({ node: one.job, since: LOOKED_BACK })}
          className="link-button"
          label={`${words.changes.open}: ${shortName(one.job)}`}
        >
          {words.changes.open}
          <Icon name="right" size={13} />
        </Go>
      </p>
    </li>
  );
};

const PARTS = ["dashboards", "models", "datasets", "jobs"];

const Downstream = ({ of }: { of: Record<string, number> | null }) => {
  if (!of) return <span className="quiet">{words.boards.notCounted}</span>;
  const parts = PARTS.filter((part) => (of[part] ?? 0) > 0);
  return <>{parts.map((part) => words.boards.parts[part]!(of[part] ?? 0)).join(" · ") || words.boards.nothing}</>;
};

const LastGood = ({ good, last }: { good: RunOf | null; last: RunOf | null }) => {
  if (!good) return <span className="quiet">{words.boards.lastGoodNone}</span>;
  const isOther = last?.commit && good.commit && last.commit.version !== good.commit.version;
  return (
    <>
      <When time={good.ended_at} /> <RunLink run={runId(good.run)} />
      <span className="trouble-commit">
        {good.commit ? (
          <>
            {words.boards.commit} <Commit of={good.commit} />
            {isOther && last?.commit && (
              <>
                {" → "}
                <Commit of={last.commit} />
              </>
            )}
            {last?.commit && (
              <span className={isOther ? "chip chip-tag" : "chip"}>
                {isOther ? words.boards.otherCommit : words.boards.sameCommit}
              </span>
            )}
          </>
        ) : (
          <span className="quiet">{words.boards.noCommit}</span>
        )}
      </span>
    </>
  );
};

const Commit = ({ of }: { of: { version: string; url: string } }) =>
  /^https?:\/\//.test(of.url) ? (
    <a className="mono commit" href={of.url} rel="noreferrer" target="_blank">
      {of.version.slice(0, 10)}
    </a>
  ) : (
    <code>{of.version.slice(0, 10)}</code>
  );

const Reasons = ({ status }: { status: Status | undefined }) => {
  const reasons = Object.entries(status?.store?.quarantined_by_reason ?? {}).sort(([, a], [, b]) => b - a);
  const most = Math.max(1, ...reasons.map(([, count]) => count));
  return (
    <section className="section">
      <h2>{words.boards.reasons}</h2>
      {status && !reasons.length && <p className="quiet">{words.boards.reasonsNone}</p>}
      <ul className="bars">
        {reasons.map(([reason, count]) => (
          <li key={reason}>
            <Go to={boardAddress("debug", { show: "quarantine", reason })}>
              <span>{words.boards.refusals[reason] ?? reason}</span>
              <b>{count.toLocaleString("en")}</b>
              <Bar share={count / most} />
            </Go>
          </li>
        ))}
      </ul>
    </section>
  );
};

const Producers = ({ status }: { status: Status | undefined }) => (
  <section className="section">
    <h2>{words.boards.producers}</h2>
    <table className="table plain">
      <thead>
        <tr>
          <th scope="col">{words.boards.producer}</th>
          <th scope="col" className="number">
            {words.boards.events}
          </th>
          <th scope="col">{words.boards.lastSeen}</th>
        </tr>
      </thead>
      <tbody>
        {status?.store?.producers.slice(0, 12).map((one) => (
          <tr key={one.producer + one.version}>
            <th scope="row" className="breaks">
              {one.producer} <span className="quiet">{one.version}</span>
            </th>
            <td className="number">{one.events.toLocaleString("en")}</td>
            <td>
              <When time={new Date(one.last_seen * 1_000).toISOString()} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </section>
);
