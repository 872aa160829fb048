// A paginated list: loading, empty, or its rows and a button for more.

import type { ReactNode } from "react";
import { Awaited } from "../components/elements";
import { words } from "../texts";
import type { Pages } from "../api";

interface Props {
  of: Pages<unknown>;
  isEmpty: boolean;
  /** The text of an empty list. */
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
