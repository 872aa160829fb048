// What dashboards ask. Shapes are those of src/whence/api/board_shapes.py.

import { useCallback, useEffect, useRef, useState } from "react";
import { asked, get, Problem, useFreshness, type Answered } from "../api";

export interface Kpi {
  name: string;
  unit: "ratio" | "seconds" | "nodes" | "score";
  definition: string;
  value: number | null;
  numerator: number | null;
  denominator: number | null;
  measured_at: string | null;
  series: { at: string; value: number | null }[];
}
export interface Covered {
  namespace: string;
  datasets: number;
  lineage: number;
  columns: number;
  owner: number;
  description: number;
}
export interface Refused {
  position: string;
  reason: string;
  refusal: string;
  received_at: string | null;
  bytes: number | null;
}
export interface Body extends Refused {
  pointer: string;
  body: string | null;
  cut: boolean;
}
export interface Unfinished {
  run: string;
  job: string;
  last_seen: string;
}
export interface FailedIn {
  dataset: string;
  run: string;
  job: string;
  time: string;
  failed: { assertion: string; column: string | null; severity: string | null }[];
  held: number;
}
export interface LostRecord {
  position: string;
  received_at: string | null;
}
export interface SchemaChange {
  dataset: string;
  time: string;
  first: boolean;
  added: string[];
  removed: string[];
  retyped: { column: string; before: string; after: string }[];
}

interface Paged {
  page: { next: string | null } | null;
}
/** A page of a list. */
export interface Listed<Row> extends Paged {
  data: Row[];
}

export interface Pages<Answer> {
  pages: readonly Answer[];
  /** Asks for the next one, if there is one. */
  more?: () => void;
  state: Answered<unknown>;
}

const readAll = async <Answer extends Paged>(
  path: string,
  values: Record<string, string | number | undefined>,
  count: number,
): Promise<Answer[]> => {
  const pages: Answer[] = [];
  let cursor: string | null | undefined;
  do {
    const page: Answer = await get<Answer>(asked(path, { ...values, cursor }));
    pages.push(page);
    cursor = page.page?.next;
  } while (cursor && pages.length < count);
  return pages;
};

/** Pages of an answer, one after the other, as far as they were asked for. */
export const usePages = <Answer extends Paged>(
  path: string,
  values: Record<string, string | number | undefined>,
): Pages<Answer> => {
  const first = asked(path, values);
  const fresh = useFreshness();
  const [held, setHeld] = useState<{ of: string; pages: Answer[]; problem?: Problem; waiting: boolean }>({
    of: "",
    pages: [],
    waiting: true,
  });
  const read = useCallback(
    (address: string, before: Answer[]) => {
      let current = true;
      // More of a list that is not on the screen any more is not told.
      const tell = (one: typeof held) => {
        if (current) setHeld((now) => (before.length && (now.of !== first || now.pages !== before) ? now : one));
      };
      get<Answer>(address).then(
        (page) => tell({ of: first, pages: [...before, page], waiting: false }),
        (error: unknown) =>
          tell({
            of: first,
            pages: before,
            problem: error instanceof Problem ? error : new Problem(0, String(error)),
            waiting: false,
          }),
      );
      return () => {
        current = false;
      };
    },
    [first],
  );
  const shown = useRef(0);
  shown.current = held.of === first ? held.pages.length : 0;
  // As many pages again as are on the screen, so that a list does not become shorter under whoever reads it.
  useEffect(() => {
    let current = true;
    void readAll<Answer>(path, values, Math.max(1, shown.current)).then(
      (pages) => current && setHeld({ of: first, pages, waiting: false }),
      (error: unknown) =>
        current &&
        setHeld((now) =>
          now.of === first && now.pages.length
            ? now
            : {
                of: first,
                pages: [],
                problem: error instanceof Problem ? error : new Problem(0, String(error)),
                waiting: false,
              },
        ),
    );
    return () => {
      current = false;
    };
  }, [first, fresh]);
  const now = held.of === first ? held : { pages: [], waiting: true, problem: undefined };
  const next = now.pages.at(-1)?.page?.next;
  const more = next ? () => void read(asked(path, { ...values, cursor: next }), now.pages) : undefined;
  const state: Answered<unknown> = { waiting: now.waiting, problem: now.problem };
  return { pages: now.pages, more, state };
};
