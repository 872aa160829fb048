// API keys: made and shown once, rotated, revoked.

import { useState } from "react";
import { asked, refresh, useAnswer, type Key, type NewKey } from "../api";
import { reasonOf } from "../facts/changing";
import { Awaited, exact, Icon, When } from "../parts/bits";
import { notify } from "../parts/Notices";
import { send, useSession } from "../session";
import { words } from "../words";
import { Ask, Field } from "./parts";

type Asking = { what: "rotate" | "revoke"; key: Key };

const SCOPES = ["read", "write", "steward", "admin"] as const;
const said = words.admin.keys;

export const Keys = () => {
  const told = useAnswer<{ data: Key[] }>(asked("keys"));
  const { me } = useSession();
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<NewKey>();
  const [asking, setAsking] = useState<Asking>();
  const [withOld, setWithOld] = useState(false);
  const all = told.answer?.data ?? [];
  const old = all.filter((one) => one.state !== "live");
  const act = async ({ what, key }: Asking) => {
    if (what === "rotate") {
      const { answer } = await send<{ data: NewKey }>(
        "POST",
        asked(`keys/${encodeURIComponent(key.name)}/rotation`),
        {},
      );
      setMade(answer.data);
    } else {
      await send("DELETE", asked(`keys/${encodeURIComponent(key.id)}`));
      notify({ text: said.revoked(key.name) });
    }
    setAsking(undefined);
    refresh();
  };
  return (
    <section className="section" aria-label={words.admin.tabs["keys"]}>
      <div className="section-head">
        <p className="quiet">{said.about}</p>
        <button type="button" className="button primary" onClick={() => setMaking(true)}>
          <Icon name="plus" />
          {said.make}
        </button>
      </div>
      <Awaited of={told} />
      {told.answer && !all.length && <p className="quiet">{said.none}</p>}
      {all.length > 0 && (
        <div className="scrolls" tabIndex={0} role="region" aria-label={words.admin.tabs["keys"]}>
          <table className="table plain">
            <thead>
              <tr>
                {[said.name, said.state, said.scopes, said.created, said.expires, said.used, ""].map((one) => (
                  <th key={one} scope="col">
                    {one || <span className="hidden">{words.list.actions}</span>}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {all
                .filter((one) => withOld || one.state === "live")
                .map((one) => (
                  <tr key={one.id}>
                    <th scope="row">
                      <span className="breaks">{one.name}</span>
                      <span className="sub mono">{one.id}</span>
                    </th>
                    <td>
                      <span className={one.state === "live" ? "chip chip-good" : "chip"}>{said.states[one.state]}</span>
                    </td>
                    <td className="quiet">{canOf(one)}</td>
                    <td data-label={said.created}>
                      <When time={one.created_at} />
                    </td>
                    <td className="nowrap" data-label={said.expires}>
                      {one.expires_at ? exact(one.expires_at).slice(0, 10) : said.lifetimes[0][1]}
                    </td>
                    <td data-label={said.used}>{one.used_at ? <When time={one.used_at} /> : said.never}</td>
                    <td className="acts">
                      {one.state === "live" && (
                        <>
                          <button
                            type="button"
                            className="link-button"
                            aria-label={said.rotateOf(one.name)}
                            onClick={() => setAsking({ what: "rotate", key: one })}
                          >
                            {said.rotate}
                          </button>
                          <button
                            type="button"
                            className="link-button danger"
                            aria-label={said.revokeOf(one.name)}
                            onClick={() => setAsking({ what: "revoke", key: one })}
                          >
                            {said.revoke}
                          </button>
                        </>
                      )}
                    </td>
                  </tr>
                ))}
            </tbody>
          </table>
        </div>
      )}
      {old.length > 0 && (
        <button type="button" className="link-button" onClick={() => setWithOld(!withOld)}>
          {withOld ? said.hideOld : said.old(old.length)}
        </button>
      )}
      {isMaking && (
        <Make
          onClose={() => setMaking(false)}
          onMade={(key) => {
            setMaking(false);
            setMade(key);
            refresh();
          }}
        />
      )}
      {made && <Shown made={made} onClose={() => setMade(undefined)} />}
      {asking && (
        <Ask
          title={asking.what === "rotate" ? said.rotateOf(asking.key.name) : said.revokeOf(asking.key.name)}
          act={asking.what === "rotate" ? said.rotate : said.revoke}
          isDangerous={asking.what === "revoke"}
          onAct={() => act(asking)}
          onClose={() => setAsking(undefined)}
        >
          <p>{asking.what === "rotate" ? said.rotateAsk(asking.key.name) : said.revokeAsk(asking.key.name)}</p>
          {asking.what === "revoke" && me.name === `key:${asking.key.name}` && (
            <p className="notice-bad">{said.revokeOwn}</p>
          )}
        </Ask>
      )}
    </section>
  );
};

/** What a key can at most, the weakest first. */
const canOf = (key: Key): string =>
  key.scopes.length === SCOPES.length
    ? said.allScopes
    : SCOPES.filter((scope) => key.scopes.includes(scope))
        .map((scope) => said.scopeNames[scope])
        .join(", ");

const Make = ({ onClose, onMade }: { onClose: () => void; onMade: (key: NewKey) => void }) => {
  const [name, setName] = useState("");
  const [role, setRole] = useState("");
  const [namespaces, setNamespaces] = useState("*");
  const [scopes, setScopes] = useState<readonly string[]>(SCOPES);
  const [lifetime, setLifetime] = useState("90d");
  const make = async () => {
    const { answer } = await send<{ data: NewKey }>("POST", asked("keys"), {
      name: name.trim(),
      scopes,
      namespaces,
      ...(role ? { role } : {}),
      ...(lifetime ? { expires_in: lifetime } : {}),
    });
    onMade(answer.data);
  };
  return (
    <Ask title={said.make} act={said.create} onAct={make} onClose={onClose}>
      <Field label={said.name}>
        <input
          className="input"
          autoFocus
          required
          value={name}
          placeholder={said.nameHint}
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
      <Field label={said.role}>
        <select className="input" value={role} onChange={(event) => setRole(event.target.value)}>
          <option value="">{said.noRole}</option>
          {words.admin.access.roles.map(([one, what]) => (
            <option key={one} value={one}>
              {words.roles[one]} · {what}
            </option>
          ))}
        </select>
      </Field>
      {role && (
        <Field label={said.namespaces}>
          <input
            className="input mono"
            required
            value={namespaces}
            placeholder={said.namespacesHint}
            onChange={(event) => setNamespaces(event.target.value)}
          />
        </Field>
      )}
      <fieldset className="checks">
        <legend>{said.scopes}</legend>
        {SCOPES.map((scope) => (
          <label key={scope}>
            <input
              type="checkbox"
              checked={scopes.includes(scope)}
              onChange={() =>
                setScopes(scopes.includes(scope) ? scopes.filter((one) => one !== scope) : [...scopes, scope])
              }
            />
            {said.scopeNames[scope]}
          </label>
        ))}
      </fieldset>
      <Field label={said.expires}>
        <select className="input" value={lifetime} onChange={(event) => setLifetime(event.target.value)}>
          {said.lifetimes.map(([value, text]) => (
            <option key={text} value={value}>
              {text}
            </option>
          ))}
        </select>
      </Field>
    </Ask>
  );
};

/** A key in clear: this once. */
const Shown = ({ made, onClose }: { made: NewKey; onClose: () => void }) => {
  const [isCopied, setCopied] = useState(false);
  const copy = () =>
    void navigator.clipboard?.writeText(made.key).then(
      () => setCopied(true),
      (error: unknown) => notify({ text: reasonOf(error), isBad: true }),
    );
  return (
    <Ask
      title={said.of(made.subject)}
      act={said.done}
      onAct={() => Promise.resolve(onClose())}
      onClose={onClose}
      isOnlyWay
    >
      <p>{said.shownOnce}</p>
      <code className="secret" data-testid="secret" tabIndex={0}>
        {made.key}
      </code>
      <button type="button" className="button" onClick={copy}>
        <Icon name="link" />
        {isCopied ? said.copied : said.copy}
      </button>
    </Ask>
  );
};
