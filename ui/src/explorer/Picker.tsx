// Choosing from a hop that is too large to draw.

import { useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { apiPath, get, type Envelope, type Lineage } from "../api";
import type { Side } from "../address";
import { fullName, isHidden, place, shortName } from "../names";
import { MOST_AT_ONCE } from "../graph/model";
import { Icon, NodeGlyph } from "../components/elements";
import { WhereView } from "../components/location";
import { words } from "../texts";

const READ = 1_000;
const MOST = 1_000_000;
const SHOWN = 300;

interface Props {
  node: string;
  side: Side;
  asOf: string | undefined;
  picked: readonly string[];
  onPick: (nodes: string[]) => void;
  onClose: () => void;
}

export const Picker = ({ node, side, asOf, picked, onPick, onClose }: Props) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const { all, total, next, more } = useNeighbours(node, side, asOf);
  const [filter, setFilter] = useState("");
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(picked));
  useEffect(() => dialog.current?.showModal(), []);
  // The input is rendered at once; hundreds of rows follow at a lower priority.
  const wanted = useDeferredValue(filter).toLowerCase();
  const named = useMemo(() => all.filter((id) => !isHidden(id)), [all]);
  const fitting = useMemo(() => named.filter((id) => id.toLowerCase().includes(wanted)), [named, wanted]);
  const flip = (id: string) =>
    setChosen((now) => {
      const then = new Set(now);
      if (!then.delete(id)) then.add(id);
      return then;
    });
  const list = useMemo(() => {
    const groups = Map.groupBy(fitting.slice(0, SHOWN), place);
    return [...groups].map(([group, ids]) => (
      <fieldset key={group}>
        <legend>
          <WhereView id={ids[0]!} /> <span className="quiet">{ids.length}</span>
        </legend>
        {ids.map((id) => (
          <label key={id}>
            <input type="checkbox" checked={chosen.has(id)} onChange={() => flip(id)} />
            <NodeGlyph id={id} />
            <span className="picker-name" title={fullName(id)}>
              {shortName(id)}
            </span>
          </label>
        ))}
      </fieldset>
    ));
  }, [fitting, chosen]);
  const outside = picked.filter((id) => !all.includes(id));
  return (
    <dialog
      ref={dialog}
      className="palette picker"
      aria-label={words.explorer.pickTitle(shortName(node), side)}
      onClose={onClose}
    >
      <header className="panel-head">
        <div>
          <h2>{words.explorer.pickTitle(shortName(node), side)}</h2>
          <p>{words.explorer.pickLoaded(all.length, total)}</p>
        </div>
        <button type="button" className="icon-button" aria-label={words.explorer.close} onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div className="palette-input">
        <Icon name="search" size={18} />
        <input
          autoFocus
          value={filter}
          placeholder={words.explorer.pickFilter}
          aria-label={words.explorer.pickFilter}
          onChange={(event) => setFilter(event.target.value)}
        />
      </div>
      <div className="picker-list">
        {list}
        {named.length < all.length && (
          <p className="hidden-note" title={words.hidden.ask}>
            <Icon name="lock" size={14} />
            {words.hidden.datasets(all.length - named.length)}
          </p>
        )}
        {fitting.length > SHOWN && <p className="quiet">{words.explorer.moreColumns(fitting.length - SHOWN)}</p>}
        {next && (
          <button type="button" className="button" onClick={more}>
            {words.explorer.pickMore}
          </button>
        )}
      </div>
      <footer className="palette-foot picker-foot">
        <button type="button" className="button" onClick={() => setChosen(new Set(fitting.slice(0, MOST_AT_ONCE)))}>
          {words.explorer.pickAll(Math.min(MOST_AT_ONCE, fitting.length))}
        </button>
        <button
          type="button"
          className="button primary"
          onClick={() => onPick([...outside, ...all.filter((id) => chosen.has(id))])}
        >
          {words.explorer.pickDone(all.filter((id) => chosen.has(id)).length)}
        </button>
      </footer>
    </dialog>
  );
};

const useNeighbours = (node: string, side: Side, asOf: string | undefined) => {
  const [held, setHeld] = useState<{ all: string[]; total: number; next: string | null }>({
    all: [],
    total: 0,
    next: null,
  });
  const read = (cursor?: string) =>
    get<Envelope<Lineage>>(
      apiPath(`lineage/${side === "up" ? "upstream" : "downstream"}`, {
        node,
        depth: 1,
        limit: READ,
        max_nodes: MOST,
        cursor,
        as_of: asOf,
      }),
    ).then(({ data, page }) =>
      setHeld((now) => ({
        all: [...(cursor ? now.all : []), ...data.nodes.filter((one) => one.depth > 0).map((one) => one.node)],
        total: (page?.total ?? 1) - 1,
        next: page?.next ?? null,
      })),
    );
  useEffect(() => {
    void read();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- another node, side or time is another list
  }, [node, side, asOf]);
  return {
    ...held,
    more: () => {
      if (held.next) void read(held.next);
    },
  };
};
