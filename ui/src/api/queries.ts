// Queries to the API, cached by TanStack Query.

import { notifyManager, QueryClient, queryOptions, useQueries, useQuery } from "@tanstack/react-query";
import { isAway, Problem, read } from "./problems";

/** Milliseconds after which a dashboard is reloaded when it is shown again. Answers of a graph are kept, so that all
 *  of it is of one time. */
const AGED = 30_000;
const KEPT = 600_000;
const LASTING = /\/api\/v2\/(lineage|paths|traits|facts|impact)\b/;
/** Milliseconds between two checks whether all queries are answered. */
const LOOK = 50;

// Answers are rendered without a timer, since browsers throttle timers in background tabs.
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

/** The time until an answer is stale, and until an unused one is removed. */
export const lifetime = (address: string) =>
  LASTING.test(address) ? { staleTime: Infinity, gcTime: KEPT } : { staleTime: AGED, gcTime: AGED };

const question = <Answer>(address: string) =>
  queryOptions({
    queryKey: [address],
    queryFn: ({ signal }) => fetched<Answer>(address, signal),
    ...lifetime(address),
  });

/** Fetch without the cache. Throws a Problem. */
export const fetched = async <Answer>(address: string, signal?: AbortSignal): Promise<Answer> => {
  const response = await fetch(new URL(address, document.baseURI), {
    headers: { accept: "application/json" },
    signal: signal ?? null,
  }).catch((error: unknown) => {
    throw signal?.aborted ? error : new Problem(0, String(error));
  });
  return read<Answer>(response);
};

/** The answer to a single query. `signal` cancels it. Throws a Problem. */
export const get = <Answer>(address: string, signal?: AbortSignal): Promise<Answer> =>
  client.fetchQuery({ ...question<Answer>(address), queryFn: () => fetched<Answer>(address, signal) });

/** Remove all answers without reloading them: they belong to another user. */
export const forget = (): void => client.clear();

/** Remove all answers, and reload those that are on the screen. */
export const refresh = (): void => {
  client.removeQueries({ type: "inactive" });
  void client.invalidateQueries();
};

/** Wait until all queries are answered. Throws a Problem if the server failed. */
export const settledAnswers = async (): Promise<void> => {
  // Another query may depend on an answer, and starts after the next render.
  for (let quiet = 0; quiet < 2; quiet = client.isFetching() ? 0 : quiet + 1)
    await new Promise((done) => setTimeout(done, LOOK));
  for (const { state } of client.getQueryCache().findAll({ type: "active" }))
    if (state.error && isAway(state.error)) throw state.error;
};

/** The previous answer is kept while the server is unreachable: its age is on the screen. */
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

/** A key of some answers that changes with each of them. */
export const identity = (answers: readonly Answered<object>[]): string =>
  answers.map((one) => (one.waiting ? "w" : numberOf(one.answer ?? one.problem ?? one))).join(" ");
