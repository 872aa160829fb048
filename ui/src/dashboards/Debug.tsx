// The debug dashboard: received events, quarantine, failed checks, changed schemas.

import { useState, type ReactNode } from "react";
import type { ReceivedEvent } from "../api";
import { go } from "../address";
import { useTraits } from "../facts/traits";
import { exact, NodeLink, runId, RunLink, State, When } from "../components/elements";
import { RawEvent } from "../components/RawEvent";
import { words } from "../texts";
import {
  usePages,
  type FailedIn,
  type Listed,
  type LostRecord,
  type Quarantined,
  type SchemaChange,
  type Unfinished,
} from "../api";
import { BodyView } from "./Replay";
import { Paged } from "./Paged";
import { boardAddress } from "./dashboardAddress";

const STATES = ["START", "RUNNING", "COMPLETE", "FAIL", "ABORT"];
const SHOWN = 8;

export const Debug = ({ query }: { query: URLSearchParams }) => {
  const opened = Object.fromEntries(
    ["state", "namespace", "event", "show", "reason", "body", "lacks"].map((key) => [key, query.get(key) ?? undefined]),
  );
  const change = (patch: Record<string, string | undefined>) =>
    go(boardAddress("debug", { ...opened, ...patch }), "replace");
  const show = opened["show"];
  const lists = {
    quarantine: <Quarantine opened={opened} change={change} key="quarantine" />,
    unfinished: <UnfinishedRuns opened={opened} change={change} key="unfinished" />,
    checks: <FailedChecks key="checks" />,
  };
  return (
    <>
      {show === "lost" && <Lost />}
      {Object.entries(lists).map(([name, list]) => name === show && list)}
      <Stream opened={opened} change={change} />
      {Object.entries(lists).map(([name, list]) => name !== show && list)}
      <Schemas />
    </>
  );
};

interface Props {
  opened: Record<string, string | undefined>;
  change: (patch: Record<string, string | undefined>) => void;
}

const Stream = ({ opened, change }: Props) => {
  const { state, namespace } = opened;
  const listing = usePages<Listed<ReceivedEvent>>("events", { limit: 25, state, namespace });
  const rows = listing.pages.flatMap((page) => page.data);
  return (
    <section className="section">
      <h2>{words.boards.stream}</h2>
      <p className="quiet">{words.boards.streamOf}</p>
      <div className="filters">
        <span className="chips" role="group" aria-label={words.boards.filterState}>
          <Chip isOn={!state} onClick={() => change({ state: undefined })}>
            {words.boards.everything}
          </Chip>
          {STATES.map((one) => (
            <Chip key={one} isOn={state === one} onClick={() => change({ state: state === one ? undefined : one })}>
              {one}
            </Chip>
          ))}
        </span>
        <NamespaceField value={namespace ?? ""} onSet={(value) => change({ namespace: value || undefined })} />
      </div>
      <Paged of={listing} isEmpty={!rows.length} none={words.boards.streamNone} lines={6}>
        <ul className="stream">
          {rows.map((one) => (
            <Row
              key={one.event}
              called={`${words.boards.event} ${one.event.slice(0, 8)}`}
              when={
                <time dateTime={one.time} title={exact(one.time)}>
                  {exact(one.time).slice(5, 19)}
                </time>
              }
              state={one.state ? <State state={one.state} /> : one.kind}
              what={<Subject of={one} />}
              from={<span title={one.producer}>{one.producer.replace(/^https?:\/\//, "")}</span>}
              isOpen={opened["event"] === one.event}
              onToggle={(isOpen) => change({ event: isOpen ? one.event : undefined })}
            >
              <RawEvent event={one.event} />
            </Row>
          ))}
        </ul>
      </Paged>
    </section>
  );
};

const Subject = ({ of: { subject, job, kind } }: { of: ReceivedEvent }) => {
  if (!subject) return <>{kind}</>;
  if (!subject.startsWith("run:") || !job) return <NodeLink id={subject} />;
  return (
    <>
      <NodeLink id={job} /> <RunLink run={runId(subject)} />
    </>
  );
};

interface RowProps {
  called: string;
  when: ReactNode;
  state: ReactNode;
  what: ReactNode;
  from: ReactNode;
  isOpen: boolean;
  onToggle: (isOpen: boolean) => void;
  /** The content when it is open. */
  children: ReactNode;
}

/** One event of the stream, with its body on demand. */
const Row = ({ called, when, state, what, from, isOpen, onToggle, children }: RowProps) => {
  const act = isOpen ? words.boards.hideEvent : words.boards.showEvent;
  return (
    <li className={isOpen ? "stream-item open" : "stream-item"}>
      <div className="stream-row">
        <span className="stream-when">{when}</span>
        <span className="stream-state">{state}</span>
        <span className="stream-what">{what}</span>
        <span className="stream-producer quiet">{from}</span>
        <button
          type="button"
          className="button small"
          aria-expanded={isOpen}
          aria-label={`${act}: ${called}`}
          onClick={() => onToggle(!isOpen)}
        >
          {act}
        </button>
      </div>
      {isOpen && children}
    </li>
  );
};

const Chip = ({ isOn, onClick, children }: { isOn: boolean; onClick: () => void; children: string }) => (
  <button type="button" className="chip chip-button" aria-pressed={isOn} onClick={onClick}>
    {children}
  </button>
);

const NamespaceField = ({ value, onSet }: { value: string; onSet: (value: string) => void }) => {
  const [text, setText] = useState(value);
  return (
    <form
      className="filter-field"
      onSubmit={(event) => {
        event.preventDefault();
        onSet(text.trim());
      }}
    >
      <input
        className="input"
        value={text}
        placeholder={words.boards.filterNamespace}
        aria-label={words.boards.filterNamespace}
        onChange={(event) => setText(event.target.value)}
        onBlur={() => text.trim() !== value && onSet(text.trim())}
      />
    </form>
  );
};

const Quarantine = ({ opened, change }: Props) => {
  const { reason } = opened;
  const listing = usePages<Listed<Quarantined>>("quarantine", { limit: 25, reason });
  const rows = listing.pages.flatMap((page) => page.data);
  if (listing.state.problem?.status === 403)
    return (
      <section className="section" id="quarantine">
        <h2>{words.boards.quarantine}</h2>
        <p className="quiet">{words.boards.forAll}</p>
      </section>
    );
  return (
    <section className="section" id="quarantine">
      <h2>{words.boards.quarantine}</h2>
      <p className="quiet">{words.boards.quarantineOf}</p>
      {reason && (
        <p className="chips">
          <Chip isOn onClick={() => change({ reason: undefined })}>
            {`${words.boards.refusals[reason] ?? reason} ×`}
          </Chip>
        </p>
      )}
      <Paged of={listing} isEmpty={!rows.length} none={words.boards.quarantineNone}>
        <ul className="stream">
          {rows.map((one) => (
            <Row
              key={one.position}
              called={one.position}
              when={<When time={one.received_at} />}
              state={<span className="chip chip-bad">{words.boards.refusals[one.refusal] ?? one.refusal}</span>}
              what={<span className="stream-reason">{one.reason}</span>}
              from={<code>{one.position}</code>}
              isOpen={opened["body"] === one.position}
              onToggle={(isOpen) => change({ body: isOpen ? one.position : undefined })}
            >
              <BodyView position={one.position} />
            </Row>
          ))}
        </ul>
      </Paged>
    </section>
  );
};

const LACKS = ["end", "start"] as const;

const UnfinishedRuns = ({ opened, change }: Props) => {
  const lacks = opened["lacks"] === "start" ? "start" : "end";
  const listing = usePages<Listed<Unfinished>>("unfinished-runs", { limit: 25, lacks });
  const rows = listing.pages.flatMap((page) => page.data);
  return (
    <section className="section" id="unfinished">
      <h2>{words.boards.unfinished}</h2>
      <p className="quiet">{words.boards.unfinishedOf[lacks]}</p>
      <p className="chips" role="group" aria-label={words.boards.unfinished}>
        {LACKS.map((one) => (
          <Chip key={one} isOn={one === lacks} onClick={() => change({ lacks: one === "end" ? undefined : one })}>
            {words.boards.lacks[one]}
          </Chip>
        ))}
      </p>
      <Paged of={listing} isEmpty={!rows.length} none={words.boards.unfinishedNone}>
        <ul className="affected">
          {rows.map((one) => (
            <li key={one.run + one.job}>
              <NodeLink id={one.job} />
              <span className="affected-more quiet">
                <RunLink run={runId(one.run)} /> {words.boards.heard} <When time={one.last_seen} />
              </span>
            </li>
          ))}
        </ul>
      </Paged>
    </section>
  );
};

const FailedChecks = () => {
  const listing = usePages<Listed<FailedIn>>("failed-checks", { limit: 25 });
  const rows = listing.pages.flatMap((page) => page.data);
  return (
    <section className="section" id="checks">
      <h2>{words.boards.checks}</h2>
      {listing.state.problem?.status === 403 ? (
        <p className="quiet">{words.boards.forAll}</p>
      ) : (
        <>
          <p className="quiet">{words.boards.checksOf}</p>
          <Paged of={listing} isEmpty={!rows.length && !listing.more} none={words.boards.checksNone}>
            <ul className="affected affected-checks">
              {rows.map((one) => (
                <li key={one.run + one.dataset}>
                  <NodeLink id={one.dataset} />
                  <span className="chips">
                    {one.failed.map((check) => (
                      <span
                        key={check.assertion + check.column}
                        className={`chip ${check.severity === "warn" ? "chip-warn" : "chip-bad"} breaks`}
                      >
                        {check.column ? `${check.assertion}: ${check.column}` : check.assertion}
                        {check.severity === "warn" && ` (${words.boards.checkWarns})`}
                      </span>
                    ))}
                    {one.held > 0 && <span className="quiet">{words.boards.checksHeld(one.held)}</span>}
                  </span>
                  <span className="affected-more quiet">
                    <NodeLink id={one.job} /> <RunLink run={runId(one.run)} /> <When time={one.time} />
                  </span>
                </li>
              ))}
            </ul>
          </Paged>
        </>
      )}
    </section>
  );
};

const Lost = () => {
  const listing = usePages<{ data: { records: LostRecord[]; looked: number }; page: { next: string | null } }>(
    "lost-records",
    { limit: 25 },
  );
  const rows = listing.pages.flatMap((page) => page.data.records);
  const looked = listing.pages.reduce((sum, page) => sum + page.data.looked, 0);
  return (
    <section className="section" id="lost">
      <h2>{words.boards.lost}</h2>
      <p className="quiet">{words.boards.lostOf}</p>
      <Paged of={listing} isEmpty={!rows.length} none={words.boards.lostNone(looked)}>
        <ul className="affected">
          {rows.map((one) => (
            <li key={one.position}>
              <code>{one.position}</code>
              {one.received_at && (
                <span className="affected-more quiet">
                  {words.boards.received} <When time={one.received_at} />
                </span>
              )}
            </li>
          ))}
        </ul>
      </Paged>
    </section>
  );
};

const Schemas = () => {
  const listing = usePages<Listed<SchemaChange>>("schema-changes", { limit: 20 });
  const rows = listing.pages.flatMap((page) => page.data);
  useTraits(rows.map((one) => one.dataset));
  return (
    <section className="section" id="schemas">
      <h2>{words.boards.schemas}</h2>
      <p className="quiet">{words.boards.schemasOf}</p>
      <Paged of={listing} isEmpty={!rows.length} none={words.boards.schemasNone}>
        <ol className="versions">
          {rows.map((one) => (
            <li key={one.dataset + one.time} className="version version-schema">
              <When time={one.time} />
              <NodeLink id={one.dataset} />
              {one.first ? (
                <span className="quiet">
                  {words.boards.firstSchema} · {words.time.columns(one.added.length)}
                </span>
              ) : (
                <Differences one={one} />
              )}
            </li>
          ))}
        </ol>
      </Paged>
    </section>
  );
};

const Differences = ({ one }: { one: SchemaChange }) => {
  const all: [string, string][] = [
    ...one.retyped.map(({ column, before, after }): [string, string] => [
      "changed",
      words.boards.retyped(column, before, after),
    ]),
    ...one.removed.map((column): [string, string] => ["removed", column]),
    ...one.added.map((column): [string, string] => ["added", column]),
  ];
  return (
    <ul className="changes">
      {all.slice(0, SHOWN).map(([fate, text]) => (
        <li key={fate + text} className={`fate-${fate}`}>
          {text}
        </li>
      ))}
      {all.length > SHOWN && <li className="quiet">{words.boards.columnsMore(all.length - SHOWN)}</li>}
    </ul>
  );
};
