// The frame of the panels beside the graph.

import { type ReactNode } from "react";
import { Icon } from "../../components/elements";
import { words } from "../../texts";
import { useActions } from "../actions";

export const Panel = ({ title, sub, children }: { title: string; sub?: ReactNode; children: ReactNode }) => {
  const { change } = useActions();
  return (
    <aside className="panel" aria-label={title}>
      <header className="panel-head">
        <div>
          <h2>{title}</h2>
          {sub && <p>{sub}</p>}
        </div>
        <button
          type="button"
          className="icon-button"
          aria-label={words.explorer.close}
          title={words.explorer.close}
          onClick={() => change({ panel: undefined, edge: undefined })}
        >
          <Icon name="close" />
        </button>
      </header>
      <div className="panel-body">{children}</div>
    </aside>
  );
};
