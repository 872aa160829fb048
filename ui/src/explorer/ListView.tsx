// The picture as a table: for screen readers, small screens and users who prefer tables.

import { useMemo } from "react";
import type { Explored, Side } from "../address";
import { boxOf, fieldId, isHiddenField, parseName, shortName } from "../names";
import type { Box, Line, Picture } from "../graph/model";
import { HiddenColumns, Icon, NodeLink, State, When } from "../components/elements";
import { words } from "../texts";
import { useActions } from "./actions";
import { MarkView, type Lensed } from "./lens";

interface Entry {
  box: Box;
  side: "start" | Side | "both";
  hops: number;
  line?: Line;
}

/** Every box with its distance from the start, along the lines that are shown. */
export const entries = (picture: Picture, root: string): Entry[] => {
  const boxes = new Map(picture.boxes.map((box) => [box.id, box]));
  const found = new Map<string, Entry>();
  const start = boxes.get(root) ?? picture.boxes[0];
  if (start) found.set(start.id, { box: start, side: "start", hops: 0 });
  for (const side of ["up", "down"] as const) {
    let edge = start ? [start.id] : [];
    const passed = new Set(edge);
    for (let hops = 1; edge.length; hops += 1) {
      const next: string[] = [];
      for (const line of picture.lines) {
        const [near, far] = side === "up" ? [line.target, line.source] : [line.source, line.target];
        const box = boxes.get(far);
        if (!edge.includes(near) || passed.has(far) || !box) continue;
        passed.add(far);
        next.push(far);
        const known = found.get(far);
        found.set(
          far,
          known ? { ...known, side: known.side === "start" ? "start" : "both" } : { box, side, hops, line },
        );
      }
      edge = next;
    }
  }
  for (const box of picture.boxes) if (!found.has(box.id)) found.set(box.id, { box, side: "both", hops: 0 });
  const order = { up: 0, start: 1, both: 2, down: 3 };
  return [...found.values()].sort(
    (a, b) =>
      order[a.side] - order[b.side] ||
      (a.side === "up" ? b.hops - a.hops : a.hops - b.hops) ||
      a.box.id.localeCompare(b.box.id),
  );
};

const MOST_MARKED = 40;

/** The traced columns, and the first of those that the lens marks. */
const columnsOf = (box: Box, lensed: Lensed): string[] => {
  const marked = [...lensed.columns]
    .filter(([id, mark]) => boxOf(id) === box.id && mark.tone !== "none")
    .map(([id]) => parseName(id).field!);
  return [...new Set([...box.traced, ...marked.slice(0, MOST_MARKED)])];
};

const SIDES = { up: words.list.up, down: words.list.down, both: words.list.both, start: words.list.start };

interface Props {
  explored: Explored;
  picture: Picture;
  lensed: Lensed;
}

export const ListView = ({ explored, picture, lensed }: Props) => {
  const { toggleHop, focus, change, pick } = useActions();
  const all = useMemo(() => entries(picture, explored.node), [picture, explored.node]);
  const hop = (box: Box, side: Side) => {
    const beyond = box.beyond[side];
    if (beyond === "none") return null;
    const isOpen = beyond === "open";
    const name = shortName(box.id);
    const act = {
      up: isOpen ? words.explorer.shutUp : words.explorer.openUp,
      down: isOpen ? words.explorer.shutDown : words.explorer.openDown,
    }[side](name);
    const text = side === "up" ? words.list.up : words.list.down;
    return (
      <button
        type="button"
        className="button small"
        aria-label={`${text}: ${act}`}
        aria-expanded={isOpen}
        onClick={() => toggleHop(box.id, side, !isOpen)}
      >
        <span aria-hidden="true">{isOpen ? "−" : "+"}</span> {text}
      </button>
    );
  };
  return (
    <div className="list-view">
      <table className="table">
        <caption className="hidden">{words.list.caption(shortName(explored.node))}</caption>
        <thead>
          <tr>
            {[
              words.list.name,
              words.list.side,
              words.list.hops,
              words.list.how,
              words.list.writer,
              words.list.run,
              words.list.actions,
            ].map((one) => (
              <th key={one} scope="col">
                {one}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {all.map(({ box, side, hops, line }) => (
            <tr
              key={box.id}
              className={
                [box.id === explored.node && "root", box.faded && "faded"].filter(Boolean).join(" ") || undefined
              }
            >
              <th scope="row">
                <NodeLink id={box.id} lineage />
                {lensed.marks.has(box.id) && <MarkView mark={lensed.marks.get(box.id)!} className="list-mark" />}
                {box.isCheck && (
                  <span className="chip" title={words.explorer.checkTitle}>
                    {words.explorer.check}
                  </span>
                )}
                {box.fate && <span className={`chip fate-${box.fate}`}>{words.fates[box.fate]}</span>}
                {columnsOf(box, lensed).length > 0 && (
                  <span className="traced-list">
                    {columnsOf(box, lensed)
                      .filter((field) => !isHiddenField(field))
                      .map((field) => (
                        <button
                          key={field}
                          type="button"
                          className="chip chip-button"
                          aria-pressed={explored.focus === fieldId(box.id, field)}
                          onClick={() => focus(fieldId(box.id, field))}
                        >
                          {field}
                          {lensed.columns.has(fieldId(box.id, field)) && (
                            <MarkView mark={lensed.columns.get(fieldId(box.id, field))!} className="list-mark" />
                          )}
                        </button>
                      ))}
                    <HiddenColumns count={box.traced.filter(isHiddenField).length} />
                  </span>
                )}
              </th>
              <td data-label={words.list.side}>{SIDES[side]}</td>
              <td data-label={words.list.hops}>{hops}</td>
              <td data-label={words.list.how}>
                {line && (
                  <button
                    type="button"
                    className={`chip chip-button flow-${line.flow}`}
                    onClick={() => change({ edge: { source: line.from, target: line.to }, panel: "edge" })}
                  >
                    {words.shortFlows[line.flow]} <Icon name="right" size={12} />
                  </button>
                )}
              </td>
              <td data-label={words.list.writer}>{box.writer && <NodeLink id={box.writer} />}</td>
              <td data-label={words.list.run}>
                {box.run && (
                  <>
                    <State state={box.run.state} quiet /> <When time={box.run.ended_at ?? box.run.said_at} />
                  </>
                )}
              </td>
              <td data-label={words.list.actions}>
                <span className="row-actions">
                  {hop(box, "up")}
                  {hop(box, "down")}
                </span>
              </td>
            </tr>
          ))}
          {picture.stubs.map((stub) => (
            <tr key={stub.id}>
              <th scope="row" colSpan={6}>
                {words.explorer.stub(stub.count, stub.atLeast)}{" "}
                {stub.side === "up" ? words.explorer.stubUp : words.explorer.stubDown}: {shortName(stub.of)}
              </th>
              <td>
                <button type="button" className="button small" onClick={() => pick(stub.of, stub.side)}>
                  {words.explorer.pick}
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
};
