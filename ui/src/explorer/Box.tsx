// A dataset or job in the graph, with the columns that are unfolded or traced.

import { Handle, Position, type Node, type NodeProps } from "@xyflow/react";
import { createContext, memo, useContext, useState } from "react";
import type { Answered, Dataset } from "../api";
import type { Side } from "../address";
import { fieldId, parseName, place, shortName, systemOf, tailOf } from "../names";
import type { Box as BoxOfPicture, Stub } from "../graph/model";
import { WIDTH } from "../graph/place";
import { BoxTags } from "../facts/tagged";
import { words } from "../words";
import { Glyph, Icon } from "../parts/bits";
import { useActing } from "./acting";
import { MarkView, type Mark } from "./lens";

export const MOST_ROWS = 12;
const HEAD = 56,
  FOOT = 26,
  ROW = 24,
  FIND = 34,
  NOTE = 24;

export interface BoxData extends Record<string, unknown> {
  box: BoxOfPicture;
  isRoot: boolean;
  isSelected: boolean;
  isUnfolded: boolean;
  focus?: string;
  schema?: Answered<{ data: Dataset }>;
  /** What the lens says of it, and of its traced columns. */
  mark?: Mark;
  columnMarks?: ReadonlyMap<string, Mark>;
}

export type BoxNode = Node<BoxData, "box">;
export type StubNode = Node<{ stub: Stub }, "stub">;

interface Rows {
  traced: string[];
  hiddenTraced: number;
  rest: string[];
  total: number;
}

/** Which columns of a box are shown: the traced ones first. */
export const rowsOf = (data: BoxData, filter = ""): Rows => {
  const traced = data.box.traced.slice(0, MOST_ROWS);
  const all = data.schema?.answer?.data.fields.map((one) => one.name) ?? [];
  const other = data.isUnfolded ? all.filter((name) => !data.box.traced.includes(name)) : [];
  const fitting = filter ? other.filter((name) => name.toLowerCase().includes(filter.toLowerCase())) : other;
  return {
    traced,
    hiddenTraced: data.box.traced.length - traced.length,
    rest: fitting.slice(0, MOST_ROWS),
    total: other.length,
  };
};

export const heightOf = (data: BoxData): number => {
  const { traced, hiddenTraced, rest, total } = rowsOf(data);
  const note =
    (data.isUnfolded && (total > MOST_ROWS || (total === 0 && !traced.length)) ? NOTE : 0) + (hiddenTraced ? NOTE : 0);
  const find = data.isUnfolded && total > MOST_ROWS ? FIND : 0;
  const rows = (traced.length + rest.length) * ROW;
  return HEAD + (rows || note || find ? 9 : 0) + rows + find + note + (data.box.writer ? FOOT : 0);
};

export const boxSize = (data: BoxData) => ({ width: WIDTH, height: heightOf(data) });
export const STUB_SIZE = { width: WIDTH, height: 64 };

/** Whether boxes are too small to read: then a name is enough, and hundreds of them cost little. */
export const FarContext = createContext(false);

export const BoxView = memo(({ data }: NodeProps<BoxNode>) => {
  const { box, isRoot, isSelected, isUnfolded } = data;
  const isFar = useContext(FarContext);
  const acting = useActing();
  const [filter, setFilter] = useState("");
  const { traced, hiddenTraced, rest, total } = rowsOf(data, filter);
  const name = shortName(box.id);
  const marks = [
    isRoot && "root",
    isSelected && "selected",
    box.faded && "faded",
    box.fate && `fate-${box.fate}`,
    data.mark && `lensed tone-${data.mark.tone}`,
  ]
    .filter(Boolean)
    .join(" ");
  if (isFar && !traced.length)
    return (
      <div className={`box box-${box.kind} box-far ${marks}`} data-node={box.id}>
        <Handle type="target" position={Position.Left} id="in" isConnectable={false} />
        <Handle type="source" position={Position.Right} id="out" isConnectable={false} />
        {name}
      </div>
    );
  return (
    <div className={`box box-${box.kind} ${marks}`} data-node={box.id}>
      <BoxTags id={box.id} />
      <Handle type="target" position={Position.Left} id="in" isConnectable={false} />
      <Handle type="source" position={Position.Right} id="out" isConnectable={false} />
      {data.mark && <MarkView mark={data.mark} className="box-mark" />}
      <HopButton box={box} side="up" name={name} />
      <HopButton box={box} side="down" name={name} />
      <div className="box-head">
        <button
          type="button"
          className="box-name"
          title={`${parseName(box.id).namespace} ${parseName(box.id).name}`}
          onClick={() => acting.select(box.id)}
        >
          <Glyph kind={box.kind} />
          <span className="box-text">
            <span className="box-title">
              {name}
              {box.fate && <em className={`fate fate-${box.fate}`}>{words.fates[box.fate]}</em>}
            </span>
            <span className="box-place">{tailOf(place(box.id)) || systemOf(box.id)}</span>
          </span>
        </button>
        {box.kind === "dataset" && (
          <button
            type="button"
            className="icon-button box-fold"
            aria-expanded={isUnfolded}
            aria-label={words.explorer.columns(name)}
            title={words.explorer.columns(name)}
            onClick={() => acting.toggleColumns(box.id)}
          >
            <Icon name={isUnfolded ? "down" : "right"} />
          </button>
        )}
      </div>
      {(traced.length > 0 || isUnfolded) && (
        <div className="box-columns">
          {traced.map((field) => (
            <Row key={field} data={data} field={field} isTraced />
          ))}
          {hiddenTraced > 0 && <p className="box-note">{words.explorer.hiddenTraced(hiddenTraced)}</p>}
          {isUnfolded && total > MOST_ROWS && (
            <input
              className="box-find nodrag nowheel"
              value={filter}
              placeholder={words.explorer.findColumn(total)}
              aria-label={words.explorer.findColumn(total)}
              onChange={(event) => setFilter(event.target.value)}
            />
          )}
          {rest.map((field) => (
            <Row key={field} data={data} field={field} />
          ))}
          {isUnfolded && !data.schema?.waiting && total === 0 && !traced.length && (
            <p className="box-note">{words.explorer.noColumns}</p>
          )}
          {isUnfolded && total > MOST_ROWS && !filter && (
            <p className="box-note">{words.explorer.moreColumns(total - MOST_ROWS)}</p>
          )}
        </div>
      )}
      {box.writer && <Writer box={box} />}
    </div>
  );
});

const Writer = ({ box }: { box: BoxOfPicture }) => (
  <div
    className="box-foot"
    title={
      box.run
        ? `${words.states[box.run.state] ?? box.run.state} · ${box.run.ended_at ?? box.run.said_at}`
        : words.explorer.never
    }
  >
    <span className={`state-dot state-${(box.run?.state ?? "other").toLowerCase()}`} aria-hidden="true" />
    <span className="box-writer">{box.writer && shortName(box.writer)}</span>
    <span className="box-when">
      {box.run && words.ago((Date.now() - Date.parse(box.run.ended_at ?? box.run.said_at)) / 1_000)}
    </span>
  </div>
);

const Row = ({ data, field, isTraced = false }: { data: BoxData; field: string; isTraced?: boolean }) => {
  const { focus } = useActing();
  const id = fieldId(data.box.id, field);
  const type = data.schema?.answer?.data.fields.find((one) => one.name === field)?.type;
  const isFocus = data.focus === id;
  const mark = data.columnMarks?.get(id);
  return (
    <div className={`row ${isTraced ? "traced" : ""} ${isFocus ? "focused" : ""}`}>
      {isTraced && <Handle type="target" position={Position.Left} id={`in:${field}`} isConnectable={false} />}
      <button
        type="button"
        className="row-name"
        aria-pressed={isFocus}
        title={words.explorer.focus(field)}
        onClick={() => focus(isFocus ? undefined : id)}
      >
        <span>{field}</span>
        {mark ? <MarkView mark={mark} className="row-mark" /> : type && <i>{type}</i>}
      </button>
      {isTraced && <Handle type="source" position={Position.Right} id={`out:${field}`} isConnectable={false} />}
    </div>
  );
};

const HopButton = ({ box, side, name }: { box: BoxOfPicture; side: Side; name: string }) => {
  const { toggleHop } = useActing();
  const beyond = box.beyond[side];
  if (beyond === "none") return null;
  const isOpen = beyond === "open";
  const label = {
    up: isOpen ? words.explorer.shutUp : words.explorer.openUp,
    down: isOpen ? words.explorer.shutDown : words.explorer.openDown,
  }[side](name);
  return (
    <button
      type="button"
      className={`hop hop-${side} hop-${beyond}`}
      aria-label={label}
      title={label}
      aria-expanded={isOpen}
      onClick={() => toggleHop(box.id, side, !isOpen)}
    >
      <Icon name={isOpen ? "minus" : "plus"} size={12} />
    </button>
  );
};

/** Neighbours that are too many to draw. */
export const StubView = memo(({ data: { stub } }: NodeProps<StubNode>) => {
  const { pick } = useActing();
  return (
    <div className="stub">
      <Handle type="target" position={Position.Left} id="in" isConnectable={false} />
      <Handle type="source" position={Position.Right} id="out" isConnectable={false} />
      <button type="button" onClick={() => pick(stub.of, stub.side)}>
        <span>
          <strong>{words.explorer.stub(stub.count, stub.atLeast)}</strong>
          {stub.side === "up" ? words.explorer.stubUp : words.explorer.stubDown}
        </span>
        <em>{words.explorer.pick}</em>
      </button>
    </div>
  );
});
