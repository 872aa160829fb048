// Who has which role where, and which columns are hidden from whom.

import { useState } from "react";
import { asked, refresh, useAnswer, type Grant, type Grants, type Hiding } from "../api";
import { reasonOf } from "../facts/changing";
import { Awaited, Icon } from "../parts/bits";
import { notify } from "../parts/Notices";
import { send } from "../session";
import { words } from "../words";
import { Ask, Field } from "./parts";

const said = words.admin.access;

/** Do it, tell it, and show how things stand then. */
const done = async (work: Promise<unknown>, text: string, undo?: () => Promise<unknown>): Promise<void> => {
  await work;
  notify({ text, undo: undo && (() => void done(undo(), words.edit.done.undone).catch(told)) });
  refresh();
};
const told = (error: unknown): void => notify({ text: reasonOf(error), isBad: true });

const give = (one: Grant) => send("PUT", asked("grants"), one);
const take = ({ subject, namespaces }: Grant) => send("DELETE", asked("grants", { subject, namespaces }));
const hide = (one: Hiding) => send("PUT", asked("hidings"), one);
const show = (one: Hiding) => send("DELETE", asked("hidings", { ...one }));

export const Access = () => {
  const answer = useAnswer<{ data: Grants }>(asked("grants"));
  const [making, setMaking] = useState<"grant" | "hiding">();
  const { grants = [], hidings = [] } = answer.answer?.data ?? {};
  return (
    <>
      <section className="section" aria-label={words.admin.tabs["access"]}>
        <div className="section-head">
          <p className="quiet">{said.about}</p>
          <button type="button" className="button primary" onClick={() => setMaking("grant")}>
            <Icon name="plus" />
            {said.give}
          </button>
        </div>
        <Awaited of={answer} />
        {answer.answer && !grants.length && <p className="quiet">{said.none}</p>}
        {grants.length > 0 && <Grants grants={grants} />}
        <dl className="facts legend-roles">
          {said.roles.map(([role, what]) => (
            <div key={role}>
              <dt>{words.roles[role]}</dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
      </section>
      <section className="section" aria-label={said.hidden}>
        <h2>{said.hidden}</h2>
        <div className="section-head">
          <p className="quiet">{said.hiddenAbout}</p>
          <button type="button" className="button" onClick={() => setMaking("hiding")}>
            <Icon name="plus" />
            {said.hide}
          </button>
        </div>
        {answer.answer && !hidings.length && <p className="quiet">{said.hiddenNone}</p>}
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
          <th scope="col">{said.subject}</th>
          <th scope="col">{said.role}</th>
          <th scope="col">{said.namespaces}</th>
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
                aria-label={said.takeOf(one.subject, one.namespaces)}
                onClick={() => void done(take(one), said.taken(one.subject), () => give(one)).catch(told)}
              >
                {said.take}
              </button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const Hidings = ({ hidings }: { hidings: readonly Hiding[] }) => (
  <div className="scrolls" tabIndex={0} role="region" aria-label={said.hidden}>
    <table className="table plain">
      <thead>
        <tr>
          <th scope="col">{said.fields}</th>
          <th scope="col">{said.datasets}</th>
          <th scope="col">{said.namespaces}</th>
          <th scope="col">{said.from}</th>
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
            <td className="breaks">{one.subject === "*" ? said.everybody : one.subject}</td>
            <td className="acts">
              <button
                type="button"
                className="link-button"
                aria-label={said.showOf(one.fields)}
                onClick={() => void done(show(one), said.shown(one.fields), () => hide(one)).catch(told)}
              >
                {said.show}
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
    await done(give(one), said.given(one.subject, role));
    onClose();
  };
  return (
    <Ask title={said.give} act={said.give} onAct={act} onClose={onClose}>
      <Text
        label={said.subject}
        hint={said.subjectHint}
        value={one.subject}
        onChange={(subject) => setOne({ ...one, subject })}
        isFirst
      />
      <Field label={said.role}>
        <select className="input" value={one.role} onChange={(event) => setOne({ ...one, role: event.target.value })}>
          {said.roles.map(([role, what]) => (
            <option key={role} value={role}>
              {words.roles[role]} · {what}
            </option>
          ))}
        </select>
      </Field>
      <Text
        label={said.namespaces}
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
    await done(hide(one), said.hid(one.fields), () => show(one));
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
    <Ask title={said.hide} act={said.hide} onAct={act} onClose={onClose}>
      {text("fields", said.fields, "*ssn*", true)}
      {text("datasets", said.datasets, "*")}
      {text("namespaces", said.namespaces, words.admin.keys.namespacesHint)}
      {text("subject", said.from, said.subjectHint)}
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
