// API keys: made and shown once, rotated, revoked.

import { useState } from "react";
import { apiPath, refresh, useAnswer, type Key, type NewKey } from "../api";
import { reasonOf } from "../facts/writes";
import { Awaited, exact, Icon, When } from "../components/elements";
import { notify } from "../components/Notices";
import { send, useSession } from "../session";
import { words } from "../texts";
import { Ask, Field } from "../components/Ask";

type Confirming = { what: "rotate" | "revoke"; key: Key };

const SCOPES = ["read", "write", "steward", "admin"] as const;
const texts = words.admin.keys;

export const Keys = () => {
  const query = useAnswer<{ data: Key[] }>(apiPath("keys"));
  const { me } = useSession();
  const [isMaking, setMaking] = useState(false);
  const [made, setMade] = useState<NewKey>();
  const [confirming, setConfirming] = useState<Confirming>();
  const [withOld, setWithOld] = useState(false);
  const all = query.answer?.data ?? [];
  const old = all.filter((one) => one.state !== "live");
  const act = async ({ what, key }: Confirming) => {
    if (what === "rotate") {
      const { answer } = await send<{ data: NewKey }>(
        "POST",
        apiPath(`keys/${encodeURIComponent(key.name)}/rotation`),
        {},
      );
      setMade(answer.data);
    } else {
      await send("DELETE", apiPath(`keys/${encodeURIComponent(key.id)}`));
      notify({ text: texts.revoked(key.name) });
    }
    setConfirming(undefined);
    refresh();
  };
  return (
    <section className="section" aria-label={words.admin.tabs["keys"]}>
      <div className="section-head">
        <p className="quiet">{texts.about}</p>
        <button type="button" className="button primary" onClick={() => setMaking(true)}>
          <Icon name="plus" />
          {texts.make}
        </button>
      </div>
      <Awaited of={query} />
      {query.answer && !all.length && <p className="quiet">{texts.none}</p>}
      {all.length > 0 && (
        <div className="scrolls" tabIndex={0} role="region" aria-label={words.admin.tabs["keys"]}>
          <table className="table plain">
            <thead>
              <tr>
                {[texts.name, texts.state, texts.scopes, texts.created, texts.expires, texts.used, ""].map((one) => (
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
                      <span className={one.state === "live" ? "chip chip-good" : "chip"}>
                        {texts.states[one.state]}
                      </span>
                    </td>
                    <td className="quiet">{canOf(one)}</td>
                    <td data-label={texts.created}>
                      <When time={one.created_at} />
                    </td>
                    <td className="nowrap" data-label={texts.expires}>
                      {one.expires_at ? exact(one.expires_at).slice(0, 10) : texts.lifetimes[0][1]}
                    </td>
                    <td data-label={texts.used}>{one.used_at ? <When time={one.used_at} /> : texts.never}</td>
                    <td className="acts">
                      {one.state === "live" && (
                        <>
                          <button
                            type="button"
                            className="link-button"
                            aria-label={texts.rotateOf(one.name)}
                            onClick={() => setConfirming({ what: "rotate", key: one })}
                          >
                            {texts.rotate}
                          </button>
                          <button
                            type="button"
                            className="link-button danger"
                            aria-label={texts.revokeOf(one.name)}
                            onClick={() => setConfirming({ what: "revoke", key: one })}
                          >
                            {texts.revoke}
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
          {withOld ? texts.hideOld : texts.old(old.length)}
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
      {confirming && (
        <Ask
          title={
            confirming.what === "rotate" ? texts.rotateOf(confirming.key.name) : texts.revokeOf(confirming.key.name)
          }
          act={confirming.what === "rotate" ? texts.rotate : texts.revoke}
          isDangerous={confirming.what === "revoke"}
          onAct={() => act(confirming)}
          onClose={() => setConfirming(undefined)}
        >
          <p>
            {confirming.what === "rotate" ? texts.rotateAsk(confirming.key.name) : texts.revokeAsk(confirming.key.name)}
          </p>
          {confirming.what === "revoke" && me.name === `key:${confirming.key.name}` && (
            <p className="notice-bad">{texts.revokeOwn}</p>
          )}
        </Ask>
      )}
    </section>
  );
};

/** The possible scopes of a key, the weakest first. */
const canOf = (key: Key): string =>
  key.scopes.length === SCOPES.length
    ? texts.allScopes
    : SCOPES.filter((scope) => key.scopes.includes(scope))
        .map((scope) => texts.scopeNames[scope])
        .join(", ");

const Make = ({ onClose, onMade }: { onClose: () => void; onMade: (key: NewKey) => void }) => {
  const [name, setName] = useState("");
  const [role, setRole] = useState("");
  const [namespaces, setNamespaces] = useState("*");
  const [scopes, setScopes] = useState<readonly string[]>(SCOPES);
  const [lifetime, setLifetime] = useState("90d");
  const make = async () => {
    const { answer } = await send<{ data: NewKey }>("POST", apiPath("keys"), {
      name: name.trim(),
      scopes,
      namespaces,
      ...(role ? { role } : {}),
      ...(lifetime ? { expires_in: lifetime } : {}),
    });
    onMade(answer.data);
  };
  return (
    <Ask title={texts.make} act={texts.create} onAct={make} onClose={onClose}>
      <Field label={texts.name}>
        <input
          className="input"
          autoFocus
          required
          value={name}
          placeholder={texts.nameHint}
          onChange={(event) => setName(event.target.value)}
        />
      </Field>
      <Field label={texts.role}>
        <select className="input" value={role} onChange={(event) => setRole(event.target.value)}>
          <option value="">{texts.noRole}</option>
          {words.admin.access.roles.map(([one, what]) => (
            <option key={one} value={one}>
              {words.roles[one]} · {what}
            </option>
          ))}
        </select>
      </Field>
      {role && (
        <Field label={texts.namespaces}>
          <input
            className="input mono"
            required
            value={namespaces}
            placeholder={texts.namespacesHint}
            onChange={(event) => setNamespaces(event.target.value)}
          />
        </Field>
      )}
      <fieldset className="checks">
        <legend>{texts.scopes}</legend>
        {SCOPES.map((scope) => (
          <label key={scope}>
            <input
              type="checkbox"
              checked={scopes.includes(scope)}
              onChange={() =>
                setScopes(scopes.includes(scope) ? scopes.filter((one) => one !== scope) : [...scopes, scope])
              }
            />
            {texts.scopeNames[scope]}
          </label>
        ))}
      </fieldset>
      <Field label={texts.expires}>
        <select className="input" value={lifetime} onChange={(event) => setLifetime(event.target.value)}>
          {texts.lifetimes.map(([value, text]) => (
            <option key={text} value={value}>
              {text}
            </option>
          ))}
        </select>
      </Field>
    </Ask>
  );
};

/** A key in clear text, shown once. */
const Shown = ({ made, onClose }: { made: NewKey; onClose: () => void }) => {
  const [isCopied, setCopied] = useState(false);
  const copy = () =>
    void navigator.clipboard?.writeText(made.key).then(
      () => setCopied(true),
      (error: unknown) => notify({ text: reasonOf(error), isBad: true }),
    );
  return (
    <Ask
      title={texts.of(made.subject)}
      act={texts.done}
      onAct={() => Promise.resolve(onClose())}
      onClose={onClose}
      isOnlyWay
    >
      <p>{texts.shownOnce}</p>
      <code className="secret" data-testid="secret" tabIndex={0}>
        {made.key}
      </code>
      <button type="button" className="button" onClick={copy}>
        <Icon name="link" />
        {isCopied ? texts.copied : texts.copy}
      </button>
    </Ask>
  );
};
