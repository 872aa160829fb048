// A list that comes in pages: waited for, empty, or its rows and the way to more.

import type { ReactNode } from "react";
import { Awaited } from "../parts/bits";
import { words } from "../words";
import type { Pages } from "../api";

interface Props {
  of: Pages<unknown>;
  isEmpty: boolean;
  /** What is said if there is nothing. */
  none: ReactNode;
  lines?: number;
  children: ReactNode;
}

export const Paged = ({ of: { pages, more, state }, isEmpty, none, lines, children }: Props) => (
  <>
    <Awaited of={state} lines={lines} />
    {pages.length > 0 && isEmpty ? typeof none === "string" ? <p className="quiet">{none}</p> : none : children}
    {more && (
      <button type="button" className="button" onClick={more}>
        {words.boards.more}
      </button>
    )}
  </>
);
