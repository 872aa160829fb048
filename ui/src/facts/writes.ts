// Writes of facts: each becomes an event in the log, and takes effect once the graph has it.

import { apiPath, Problem, refresh, type Facts } from "../api";
import { notify } from "../components/Notices";
import { send, type Sent } from "../session";
import { words } from "../texts";

export interface Change {
  method: "PUT" | "DELETE";
  /** Below the node: `tags/PII`. */
  path: string;
  body?: unknown;
}

const WAIT_SECONDS = 60;

const below = (node: string, path: string): string => apiPath(`nodes/${encodeURIComponent(node)}/${path}`);

/** A path of names that may hold any characters. */
export const pathOf = (what: string, name: string | number): string => `${what}/${encodeURIComponent(name)}`;

export const readFacts = (node: string): Promise<Sent<{ data: Facts }>> => send("GET", below(node, "facts"));

/** Write a fact, and wait until the graph has it. With `ifMatch`, only if the facts are unchanged. */
export const say = async (node: string, change: Change, ifMatch?: string | null): Promise<void> => {
  const headers: Record<string, string> = ifMatch ? { "if-match": ifMatch } : {};
  showWritten(await send(change.method, below(node, change.path), change.body, headers));
};

/** Show what was written: at once, or once the graph has it. */
export const showWritten = ({ status, position }: Sent<unknown>): void => {
  if (status === 202 && position) {
    notify({ text: words.edit.soon });
    void send("GET", apiPath("progress", { wait_for: position, timeout: WAIT_SECONDS })).then(refresh);
    return;
  }
  refresh();
};

/** Write a fact, and show a notification with undo. Throws a Problem. */
export const sayWithUndo = async (node: string, change: Change, done: string, back: Change): Promise<void> => {
  await say(node, change);
  tellDone(node, done, back);
};

export const tellDone = (node: string, done: string, back: Change): void =>
  notify({
    text: done,
    undo: () =>
      void say(node, back).then(
        () => notify({ text: words.edit.done.undone }),
        (error: unknown) => notify({ text: reasonOf(error), isBad: true }),
      ),
  });

export interface Conflict<Value> {
  value: Value;
  etag: string | null;
}

/**
 * Replace one value by another. Concurrent writes of other facts are no conflict. On a conflict about the same fact
 * nothing is written, and the answer has its current value.
 */
export const sayOver = async <Value>(
  node: string,
  change: Change,
  read: { value: Value; etag: string | null },
  pick: (facts: Facts) => Value,
): Promise<Conflict<Value> | undefined> => {
  try {
    await say(node, change, read.etag);
    return undefined;
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 412) throw error;
    const now = await readFacts(node);
    const value = pick(now.answer.data);
    if (value !== read.value) return { value, etag: now.etag };
    await say(node, change, now.etag);
    return undefined;
  }
};

export const reasonOf = (error: unknown): string =>
  error instanceof Problem && error.status !== 0 ? error.message : words.problem.offline;
