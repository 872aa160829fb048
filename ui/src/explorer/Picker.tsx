// Choosing from a hop that is too large to draw.

import { useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { asked, get, type Envelope, type Lineage } from "../api";
import type { Side } from "../address";
import { parseName, place, shortName } from "../names";
import { MOST_AT_ONCE } from "../graph/model";
import { Glyph, Icon } from "../parts/bits";
import { words } from "../words";

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
  // What is typed is shown at once; hundreds of rows follow when there is time.
  const wanted = useDeferredValue(filter).toLowerCase();
  const fitting = useMemo(() => all.filter((id) => id.toLowerCase().includes(wanted)), [all, wanted]);
  const flip = (id: string) =>
    setChosen((now) => {
      const then = new Set(now);
      if (!then.delete(id)) then.add(id);
      return then;
    });
  const list = useMemo(() => {
    const groups = Map.groupBy(fitting.slice(0, SHOWN), (id) => place(id) || parseName(id).namespace);
    return [...groups].map(([group, ids]) => (
      <fieldset key={group}>
        <legend>
          {group} <span className="quiet">{ids.length}</span>
        </legend>
        {ids.map((id) => (
          <label key={id}>
            <input type="checkbox" checked={chosen.has(id)} onChange={() => flip(id)} />
            <Glyph kind={parseName(id).kind} />
            {shortName(id)}
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
      asked(`lineage/${side === "up" ? "upstream" : "downstream"}`, {
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
  }, [node, side, asOf]);
  return {
    ...held,
    more: () => {
      if (held.next) void read(held.next);
    },
  };
};
