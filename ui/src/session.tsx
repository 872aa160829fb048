// The signed-in user and their permissions, the sign-in gate of all pages, and requests that write.

import { createContext, useContext, useEffect, useRef, useState, type ReactNode } from "react";
import { apiPath, forget, Problem, read, SIGNED_OUT, useAnswer, type CurrentUser, type SignInMethods } from "./api";
import { SignIn } from "./pages/SignIn";
import { Notices } from "./components/Notices";
import { words } from "./texts";

export interface Session {
  me: CurrentUser;
  isOpen: boolean;
  signOut: () => Promise<void>;
}

const SessionContext = createContext<Session | null>(null);

export const useSession = (): Session => {
  const session = useContext(SessionContext);
  if (!session) throw new Error("outside of a session");
  return session;
};

/** Whether somebody may do something in a namespace. */
export const useMay = (action: string, namespace: string): boolean =>
  useAnswer<CurrentUser>(apiPath("session", { namespace })).answer?.may.includes(action) ?? false;

// The CSRF value that the page sends with writes; it is kept only in this page.
let csrf = "";

const asWays = async (): Promise<SignInMethods> => {
  const response = await fetch(new URL(apiPath("session/ways"), document.baseURI));
  if (!response.ok) throw new Problem(response.status, response.statusText);
  const ways = (await response.json()) as SignInMethods;
  csrf = ways.me?.csrf ?? "";
  return ways;
};

export interface Sent<Answer> {
  status: number;
  answer: Answer;
  etag: string | null;
  position: string | null;
}
type Method = "GET" | "POST" | "PUT" | "DELETE";

/** Send a request without the cache. Throws a Problem. */
export const send = async <Answer,>(
  method: Method,
  address: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Sent<Answer>> => {
  let response = await sent(method, address, body, headers);
  // Another user may have signed in, in another window of this browser.
  if (response.status === 403 && csrf && csrf !== ((await asWays()).me?.csrf ?? ""))
    response = await sent(method, address, body, headers);
  const answer = await read<Answer>(response);
  const { status, headers: received } = response;
  return { status, answer, etag: received.get("etag"), position: received.get("whence-position") };
};

const sent = (method: Method, address: string, body: unknown, headers: Record<string, string>): Promise<Response> =>
  fetch(new URL(address, document.baseURI), {
    method,
    headers: {
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(csrf && method !== "GET" ? { "x-whence-csrf": csrf } : {}),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

/** Loads and shows nothing until the user is known. The address is unchanged meanwhile. */
export const Gate = ({ children }: { children: ReactNode }) => {
  const [ways, setWays] = useState<SignInMethods>();
  const [isExpired, setExpired] = useState(false);
  const [isOffline, setOffline] = useState(false);
  const look = async (): Promise<SignInMethods | undefined> => {
    try {
      const found = await asWays();
      setOffline(false);
      setWays(found);
      return found;
    } catch {
      setOffline(true);
      return undefined;
    }
  };
  const wasIn = useRef(false);
  if (ways?.me) wasIn.current = true;
  useEffect(() => {
    const ended = () => void look().then((found) => setExpired(wasIn.current && found?.me === null));
    window.addEventListener(SIGNED_OUT, ended);
    void look();
    return () => window.removeEventListener(SIGNED_OUT, ended);
  }, []);
  if (isOffline && !ways)
    return (
      <div className="trouble" role="alert">
        <strong>{words.problem.offline}</strong>
        <button type="button" className="button" onClick={() => void look()}>
          {words.session.again}
        </button>
      </div>
    );
  if (!ways) return null;
  if (!ways.me) {
    const enter = async (key: string): Promise<void> => {
      await send("POST", apiPath("session"), { key });
      forget();
      setExpired(false);
      if (!(await look())?.me) throw new Problem(0, words.session.noCookie);
    };
    return <SignIn ways={ways} isExpired={isExpired} onKey={enter} />;
  }
  const signOut = async () => {
    await send("DELETE", apiPath("session"));
    wasIn.current = false;
    await look();
    forget();
  };
  return (
    <SessionContext value={{ me: ways.me, isOpen: ways.open, signOut }}>
      {children}
      <Notices />
    </SessionContext>
  );
};
