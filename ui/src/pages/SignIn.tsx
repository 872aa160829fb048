// The sign-in page, shown at any address until the user is signed in.

import { useState, type FormEvent } from "react";
import { Problem, type SignInMethods } from "../api";
import { Icon } from "../components/elements";
import { words } from "../texts";

interface Props {
  ways: SignInMethods;
  isExpired: boolean;
  onKey: (key: string) => Promise<void>;
}

export const SignIn = ({ ways, isExpired, onKey }: Props) => {
  const to = window.location.pathname + window.location.search;
  return (
    <main className="sign-in">
      <section className="sign-in-card">
        <img src="./icon.svg" alt="" width="44" height="44" />
        <h1>{words.session.title}</h1>
        <p className="sign-in-why">{isExpired ? words.session.expired : words.tagline}</p>
        {!window.isSecureContext && (
          <p className="notice-bad" role="alert">
            {words.session.insecure}
          </p>
        )}
        {ways.provider && (
          <>
            <a className="button primary wide" href={`../login?${new URLSearchParams({ to })}`}>
              {words.session.with(ways.provider)}
            </a>
            <p className="or">
              <span>{words.session.or}</span>
            </p>
          </>
        )}
        <ByKey onKey={onKey} isPrimary={!ways.provider} />
        <p className="sign-in-help">
          {words.session.getKey} <code>{words.session.command}</code>
        </p>
      </section>
    </main>
  );
};

const ByKey = ({ onKey, isPrimary }: { onKey: Props["onKey"]; isPrimary: boolean }) => {
  const [key, setKey] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const enter = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setProblem(undefined);
    try {
      await onKey(key);
    } catch (error) {
      setProblem(error instanceof Problem ? error.message : words.problem.offline);
      setBusy(false);
    }
  };
  return (
    <form onSubmit={(event) => void enter(event)}>
      <label htmlFor="key">{words.session.key}</label>
      <input
        id="key"
        className="input"
        type="password"
        value={key}
        placeholder={words.session.keyHint}
        autoComplete="off"
        spellCheck={false}
        required
        autoFocus
        aria-invalid={problem !== undefined}
        aria-describedby={problem ? "key-problem" : undefined}
        onChange={(event) => setKey(event.target.value)}
      />
      {problem && (
        <p id="key-problem" className="notice-bad" role="alert">
          {problem}
        </p>
      )}
      <button type="submit" className={isPrimary ? "button primary wide" : "button wide"} disabled={isBusy}>
        <Icon name="key" />
        {isBusy ? words.session.signingIn : words.session.byKey}
      </button>
    </form>
  );
};
