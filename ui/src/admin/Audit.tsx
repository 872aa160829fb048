// Who did what, and what was refused. The filter is in the address.

import { useEffect, useState } from "react";
import { apiPath, useAnswer, type AuditEntry, type Verified } from "../api";
import { go } from "../address";
import { reasonOf } from "../facts/writes";
import { Awaited, exact, Icon } from "../components/elements";
import { send } from "../session";
import { words } from "../texts";
import { Field } from "../components/Ask";

interface Filter extends Record<string, string> {
  who: string;
  action: string;
  node: string;
  after: string;
  refused: string;
}

const PAGE = 50;
const TYPED_MS = 250;
const texts = words.admin.audit;

const filterOf = (query: URLSearchParams): Filter => ({
  who: query.get("who") ?? "",
  action: query.get("action") ?? "",
  node: query.get("node") ?? "",
  after: query.get("after") ?? "7d",
  refused: query.get("refused") ?? "",
});

/** Matches a part of a name. */
const wanted = (filter: Filter) => ({ ...filter, who: filter.who && `*${filter.who}*` });

export const Audit = ({ query }: { query: URLSearchParams }) => {
  const filter = filterOf(query);
  const change = (patch: Partial<Filter>) => {
    // Reads the address now: another field may have changed since this was typed.
    const now = filterOf(new URLSearchParams(window.location.search));
    const next = Object.entries({ ...now, ...patch } as Filter).filter(([name, value]) => value || name === "after");
    go(`./admin?${new URLSearchParams([["tab", "audit"], ...next])}`, "replace");
  };
  return (
    <section className="section" aria-label={words.admin.tabs["audit"]}>
      <div className="section-head">
        <p className="quiet">{texts.about}</p>
        <Verify />
      </div>
      <form className="filters" onSubmit={(event) => event.preventDefault()}>
        <Typed label={texts.who} hint={texts.whoHint} value={filter.who} onChange={(who) => change({ who })} />
        <Field label={texts.action}>
          <select className="input" value={filter.action} onChange={(event) => change({ action: event.target.value })}>
            <option value="">{texts.any}</option>
            {Object.entries(texts.actions).map(([action, text]) => (
              <option key={action} value={action}>
                {text}
              </option>
            ))}
          </select>
        </Field>
        <Typed label={texts.node} hint={texts.nodeHint} value={filter.node} onChange={(node) => change({ node })} />
        <Field label={texts.since}>
          <select className="input" value={filter.after} onChange={(event) => change({ after: event.target.value })}>
            {texts.times.map(([value, text]) => (
              <option key={text} value={value}>
                {text}
              </option>
            ))}
          </select>
        </Field>
        <label className="check">
          <input
            type="checkbox"
            checked={filter.refused === "true"}
            onChange={(event) => change({ refused: event.target.checked ? "true" : "" })}
          />
          {texts.refused}
        </label>
        <a className="button" href={apiPath("audit", { ...wanted(filter), format: "csv" })} download>
          <Icon name="save" />
          {texts.export}
        </a>
      </form>
      <Rows key={JSON.stringify(filter)} filter={filter} />
    </section>
  );
};

/** Sends the query when typing stops. */
const Typed = ({
  label,
  hint,
  value,
  onChange,
}: {
  label: string;
  hint: string;
  value: string;
  onChange: (to: string) => void;
}) => {
  const [text, setText] = useState(value);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text.trim()), TYPED_MS);
    return () => clearTimeout(timer);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- only what was typed starts the timer
  }, [text]);
  return (
    <Field label={label}>
      <input
        className="input"
        type="search"
        value={text}
        placeholder={hint}
        onChange={(event) => setText(event.target.value)}
      />
    </Field>
  );
};

const Rows = ({ filter }: { filter: Filter }) => {
  const [limit, setLimit] = useState(PAGE);
  const entries = useAnswer<{ data: AuditEntry[]; page: { next: number | null } }>(
    apiPath("audit", { ...wanted(filter), limit }),
  );
  const [shown, setShown] = useState<AuditEntry[]>([]);
  useEffect(() => {
    if (entries.answer) setShown(entries.answer.data);
  }, [entries.answer]);
  return (
    <>
      {(entries.problem || !shown.length) && <Awaited of={entries} lines={8} />}
      {entries.answer && !entries.answer.data.length && <p className="quiet">{texts.none}</p>}
      {shown.length > 0 && (
        <div className="scrolls" tabIndex={0} role="region" aria-label={texts.caption}>
          <table className="table plain audit">
            <caption className="hidden">{texts.caption}</caption>
            <thead>
              <tr>
                {[texts.when, texts.who, texts.action, texts.what, texts.status].map((one) => (
                  <th key={one} scope="col">
                    {one}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {shown.map((one) => (
                <Row key={one.number} entry={one} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {entries.answer?.page.next && limit < 1_000 && (
        <button type="button" className="link-button" onClick={() => setLimit(Math.min(1_000, limit * 4))}>
          {texts.more}
        </button>
      )}
    </>
  );
};

const Row = ({ entry }: { entry: AuditEntry }) => {
  const isRefused = entry.action === "refused" || entry.status === 401 || entry.status === 403;
  return (
    <tr>
      <td className="nowrap" title={`${texts.number} ${entry.number}`}>
        {exact(entry.at).slice(0, 19)}
      </td>
      <th scope="row" className="who" title={entry.who}>
        {entry.who}
      </th>
      <td>
        <span className={isRefused ? "chip chip-bad" : "chip"}>{actionOf(entry, isRefused)}</span>
      </td>
      <td className="what">
        <span className="mono breaks">{entry.what}</span>
        {entry.nodes.length > 0 && <span className="sub breaks">{entry.nodes.join(" · ")}</span>}
      </td>
      <td className="nowrap quiet">
        {entry.status || texts.command}
        {entry.count > 1 && <span className="count">{(texts.counts[entry.action] ?? texts.rowsOf)(entry.count)}</span>}
      </td>
    </tr>
  );
};

const actionOf = ({ action, what }: AuditEntry, isRefused: boolean): string => {
  if (isRefused && action === "login") return texts.signInFailed;
  if (action === "admin" && what.startsWith("GET ")) return texts.readAdmin;
  return texts.actions[action] ?? action;
};

/** Verifies the whole log and shows the result. */
const Verify = () => {
  const [isBusy, setBusy] = useState(false);
  const [found, setFound] = useState<Verified>();
  const [problem, setProblem] = useState<string>();
  const verify = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      setFound((await send<{ data: Verified }>("GET", apiPath("audit/verification"))).answer.data);
    } catch (error) {
      setProblem(reasonOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="verify" aria-live="polite">
      {found?.intact && (
        <span className="chip chip-good" title={`${texts.head} ${found.head}`}>
          <Icon name="shield" size={12} />
          {texts.intact(found.rows ?? 0)}
        </span>
      )}
      {found && !found.intact && (
        <span className="chip chip-bad">
          {texts.broken}: {found.problem}
        </span>
      )}
      {problem && <span className="chip chip-bad">{problem}</span>}
      <button type="button" className="button" disabled={isBusy} onClick={() => void verify()}>
        <Icon name="shield" />
        {isBusy ? texts.verifying : texts.verify}
      </button>
    </div>
  );
};
