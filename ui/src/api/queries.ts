// Questions to the API and their answers, cached by TanStack Query.

import { notifyManager, QueryClient, queryOptions, useQueries, useQuery } from "@tanstack/react-query";
import { isAway, Problem, read } from "./problems";

/** Milliseconds after which a board is asked again when somebody comes back to it. What a graph is made of stays, so that
 *  all of it is of one time. */
const AGED = 30_000;
const KEPT = 600_000;
const LASTING = /\/api\/v2\/(lineage|paths|traits|facts|impact)\b/;
/** Milliseconds between two looks at whether all is answered. */
const LOOK = 50;

// Answers reach the screen without a timer, so that they do where timers are slowed down, too.
notifyManager.setScheduler(queueMicrotask);

export const client = new QueryClient({
  defaultOptions: {
    queries: { retry: false, refetchOnWindowFocus: false, refetchOnReconnect: false, networkMode: "always" },
  },
});

export interface Answered<Answer> {
  answer?: Answer;
  problem?: Problem;
  waiting: boolean;
}

/** How long an answer is fresh, and how long it is kept when nothing on the screen needs it. */
export const lifetime = (address: string) =>
  LASTING.test(address) ? { staleTime: Infinity, gcTime: KEPT } : { staleTime: AGED, gcTime: AGED };

const question = <Answer>(address: string) =>
  queryOptions({
    queryKey: [address],
    queryFn: ({ signal }) => fetched<Answer>(address, signal),
    ...lifetime(address),
  });

/** Ask past the cache. Throws a Problem. */
export const fetched = async <Answer>(address: string, signal?: AbortSignal): Promise<Answer> => {
  const response = await fetch(new URL(address, document.baseURI), {
    headers: { accept: "application/json" },
    signal: signal ?? null,
  }).catch((error: unknown) => {
    throw signal?.aborted ? error : new Problem(0, String(error));
  });
  return read<Answer>(response);
};

/** The answer to a question that is asked once. `signal` gives it up. Throws a Problem. */
export const get = <Answer>(address: string, signal?: AbortSignal): Promise<Answer> =>
  client.fetchQuery({ ...question<Answer>(address), queryFn: () => fetched<Answer>(address, signal) });

/** Forget all answers, and ask for none: they were given to somebody else. */
export const forget = (): void => client.clear();

/** Forget all answers, and ask again for those that are on the screen. */
export const refresh = (): void => {
  client.removeQueries({ type: "inactive" });
  void client.invalidateQueries();
};

/** Until all that was asked is answered. Throws a Problem if the server could not. */
export const settledAnswers = async (): Promise<void> => {
  // An answer may be what another question waits for, which is asked after the next look at the screen.
  for (let quiet = 0; quiet < 2; quiet = client.isFetching() ? 0 : quiet + 1)
    await new Promise((done) => setTimeout(done, LOOK));
  for (const { state } of client.getQueryCache().findAll({ type: "active" }))
    if (state.error && isAway(state.error)) throw state.error;
};

/** What was answered before is kept where the server is away: its age is on the screen. */
export const outcome = <Answer>(data: Answer | undefined, error: Error | null, isAsked = true): Answered<Answer> => {
  if (error && (data === undefined || !isAway(error)))
    return { problem: error instanceof Problem ? error : new Problem(0, String(error)), waiting: false };
  return data === undefined ? { waiting: isAsked } : { answer: data, waiting: false };
};

export const useAnswer = <Answer>(address: string | null): Answered<Answer> => {
  const { data, error } = useQuery({ ...question<Answer>(address ?? ""), enabled: address !== null });
  return outcome(data, error, address !== null);
};

/** The answers to several questions, in their order. */
export const useAnswers = <Answer>(addresses: readonly string[]): Answered<Answer>[] =>
  useQueries({ queries: addresses.map((address) => question<Answer>(address)) }).map(({ data, error }) =>
    outcome(data, error),
  );

let counted = 0;
const numbers = new WeakMap<object, number>();

const numberOf = (one: object): number => {
  const known = numbers.get(one) ?? ++counted;
  numbers.set(one, known);
  return known;
};

/** Which answers these are: another text as soon as one is another. */
export const identity = (answers: readonly Answered<object>[]): string =>
  answers.map((one) => (one.waiting ? "w" : numberOf(one.answer ?? one.problem ?? one))).join(" ");
