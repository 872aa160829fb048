// Who has which role where, and which columns are hidden from whom.

import { useState } from "react";
import { apiPath, refresh, useAnswer, type Grant, type Grants, type Hiding } from "../api";
import { reasonOf } from "../facts/writes";
import { Awaited, Icon } from "../components/elements";
import { notify } from "../components/Notices";
import { send } from "../session";
import { words } from "../texts";
import { Ask, Field } from "../components/Ask";

const texts = words.admin.access;

/** Await a write, notify of it, and refresh. */
const done = async (work: Promise<unknown>, text: string, undo?: () => Promise<unknown>): Promise<void> => {
  await work;
  notify({ text, undo: undo && (() => void done(undo(), words.edit.done.undone).catch(notifyProblem)) });
  refresh();
};
const notifyProblem = (error: unknown): void => notify({ text: reasonOf(error), isBad: true });

const give = (one: Grant) => send("PUT", apiPath("grants"), one);
const take = ({ subject, namespaces }: Grant) => send("DELETE", apiPath("grants", { subject, namespaces }));
const hide = (one: Hiding) => send("PUT", apiPath("hidings"), one);
const show = (one: Hiding) => send("DELETE", apiPath("hidings", { ...one }));

export const Access = () => {
  const answer = useAnswer<{ data: Grants }>(apiPath("grants"));
  const [making, setMaking] = useState<"grant" | "hiding">();
  const { grants = [], hidings = [] } = answer.answer?.data ?? {};
  return (
    <>
      <section className="section" aria-label={words.admin.tabs["access"]}>
        <div className="section-head">
          <p className="quiet">{texts.about}</p>
          <button type="button" className="button primary" onClick={() => setMaking("grant")}>
            <Icon name="plus" />
            {texts.give}
          </button>
        </div>
        <Awaited of={answer} />
        {answer.answer && !grants.length && <p className="quiet">{texts.none}</p>}
        {grants.length > 0 && <Grants grants={grants} />}
        <dl className="facts legend-roles">
          {texts.roles.map(([role, what]) => (
            <div key={role}>
              <dt>{words.roles[role]}</dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
      </section>
      <section className="section" aria-label={texts.hidden}>
        <h2>{texts.hidden}</h2>
        <div className="section-head">
          <p className="quiet">{texts.hiddenAbout}</p>
          <button type="button" className="button" onClick={() => setMaking("hiding")}>
            <Icon name="plus" />
            {texts.hide}
          </button>
        </div>
        {answer.answer && !hidings.length && <p className="quiet">{texts.hiddenNone}</p>}
        {hidings.length > 0 && <Hidings hidings={hidings} />}
      </section>
      {making === "grant" && <GiveRole onClose={() => setMaking(undefined)} />}
      {making === "hiding" && <HideColumns onClose={() => setMaking(undefined)} />}
    </>
  );
};

const Grants = ({ grants }: { grants: readonly Grant[] }) => (
  <div className="scrolls" tabIndex={0} role="region" aria-label={words.admin.tabs["access"]}>
    <table className="table plain">
      <thead>
        <tr>
          <th scope="col">{texts.subject}</th>
          <th scope="col">{texts.role}</th>
          <th scope="col">{texts.namespaces}</th>
          <th scope="col">
            <span className="hidden">{words.list.actions}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {grants.map((one) => (
          <tr key={one.subject + " " + one.namespaces}>
            <th scope="row" className="mono breaks">
              {one.subject}
            </th>
            <td>
              <span className={one.role === "admin" ? "chip chip-tag" : "chip"}>
                {words.roles[one.role] ?? one.role}
              </span>
            </td>
            <td className="mono breaks">{one.namespaces}</td>
            <td className="acts">
              <button
                type="button"
                className="link-button danger"
                aria-label={texts.takeOf(one.subject, one.namespaces)}
                onClick={() => void done(take(one), texts.taken(one.subject), () => give(one)).catch(notifyProblem)}
              >
                {texts.take}
              </button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const Hidings = ({ hidings }: { hidings: readonly Hiding[] }) => (
  <div className="scrolls" tabIndex={0} role="region" aria-label={texts.hidden}>
    <table className="table plain">
      <thead>
        <tr>
          <th scope="col">{texts.fields}</th>
          <th scope="col">{texts.datasets}</th>
          <th scope="col">{texts.namespaces}</th>
          <th scope="col">{texts.from}</th>
          <th scope="col">
            <span className="hidden">{words.list.actions}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {hidings.map((one) => (
          <tr key={Object.values(one).join(" ")}>
            <th scope="row" className="mono breaks">
              {one.fields}
            </th>
            <td className="mono breaks">{one.datasets}</td>
            <td className="mono breaks">{one.namespaces}</td>
            <td className="breaks">{one.subject === "*" ? texts.everybody : one.subject}</td>
            <td className="acts">
              <button
                type="button"
                className="link-button"
                aria-label={texts.showOf(one.fields)}
                onClick={() => void done(show(one), texts.shown(one.fields), () => hide(one)).catch(notifyProblem)}
              >
                {texts.show}
              </button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const GiveRole = ({ onClose }: { onClose: () => void }) => {
  const [one, setOne] = useState<Grant>({ subject: "", role: "reader", namespaces: "*" });
  const act = async () => {
    const role = words.roles[one.role] ?? one.role;
    await done(give(one), texts.given(one.subject, role));
    onClose();
  };
  return (
    <Ask title={texts.give} act={texts.give} onAct={act} onClose={onClose}>
      <Text
        label={texts.subject}
        hint={texts.subjectHint}
        value={one.subject}
        onChange={(subject) => setOne({ ...one, subject })}
        isFirst
      />
      <Field label={texts.role}>
        <select className="input" value={one.role} onChange={(event) => setOne({ ...one, role: event.target.value })}>
          {texts.roles.map(([role, what]) => (
            <option key={role} value={role}>
              {words.roles[role]} · {what}
            </option>
          ))}
        </select>
      </Field>
      <Text
        label={texts.namespaces}
        hint={words.admin.keys.namespacesHint}
        value={one.namespaces}
        onChange={(namespaces) => setOne({ ...one, namespaces })}
      />
    </Ask>
  );
};

const HideColumns = ({ onClose }: { onClose: () => void }) => {
  const [one, setOne] = useState<Hiding>({ subject: "*", namespaces: "*", datasets: "*", fields: "" });
  const act = async () => {
    await done(hide(one), texts.hid(one.fields), () => show(one));
    onClose();
  };
  const text = (name: keyof Hiding, label: string, hint: string, isFirst = false) => (
    <Text
      label={label}
      hint={hint}
      value={one[name]}
      onChange={(to) => setOne({ ...one, [name]: to })}
      isFirst={isFirst}
    />
  );
  return (
    <Ask title={texts.hide} act={texts.hide} onAct={act} onClose={onClose}>
      {text("fields", texts.fields, "*ssn*", true)}
      {text("datasets", texts.datasets, "*")}
      {text("namespaces", texts.namespaces, words.admin.keys.namespacesHint)}
      {text("subject", texts.from, texts.subjectHint)}
    </Ask>
  );
};

interface TextProps {
  label: string;
  hint: string;
  value: string;
  onChange: (to: string) => void;
  isFirst?: boolean;
}

const Text = ({ label, hint, value, onChange, isFirst = false }: TextProps) => (
  <Field label={label}>
    <input
      className="input mono"
      required
      autoFocus={isFirst}
      value={value}
      placeholder={hint}
      onChange={(event) => onChange(event.target.value)}
    />
  </Field>
);
