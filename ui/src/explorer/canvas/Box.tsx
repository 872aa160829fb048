// A dataset or job in the graph, with the columns that are unfolded or traced.

import { Handle, Position, type Node, type NodeProps } from "@xyflow/react";
import { createContext, memo, useContext, useState } from "react";
import type { Answered, Dataset } from "../../api";
import { pageAddress, type Side } from "../../address";
import { boxOf, columnsOf, fieldId, fullName, isHidden, isHiddenField, shortName } from "../../names";
import type { Box as BoxOfPicture, Stub } from "../../graph/model";
import { WIDTH } from "../../graph/placement";
import { BoxTags } from "../../facts/badges";
import { words } from "../../texts";
import { Go, Icon, NodeGlyph } from "../../components/elements";
import { useLabel, WhereView } from "../../components/location";
import { useActions } from "../actions";
import { MarkView, type Mark } from "../lens";

export const MOST_ROWS = 12;
const HEAD = 58,
  FOOT = 28,
  ROW = 28,
  FIND = 34,
  NOTE = 24;

export interface BoxData extends Record<string, unknown> {
  box: BoxOfPicture;
  isRoot: boolean;
  isSelected: boolean;
  isUnfolded: boolean;
  focus?: string;
  schema?: Answered<{ data: Dataset }>;
  /** The marks of the lens on the box and its traced columns. */
  mark?: Mark;
  columnMarks?: ReadonlyMap<string, Mark>;
}

export type BoxNode = Node<BoxData, "box">;
export type StubNode = Node<{ stub: Stub }, "stub">;

interface Rows {
  traced: string[];
  moreTraced: number;
  /** The columns that are hidden from the viewer, traced and others: one row for all. */
  hidden: number;
  isHiddenTraced: boolean;
  rest: string[];
  total: number;
}

/** The handle of the row of all hidden columns. */
export const HIDDEN_ROW = "(hidden)";
const LONGEST_TITLE = 22;

/** The columns of a box that the lens marks: all that is known of a dataset whose schema nobody reported. */
const markedColumns = ({ box, columnMarks }: BoxData): string[] =>
  [...(columnMarks?.keys() ?? [])].filter((id) => boxOf(id) === box.id).map(shortName);

/** Which columns of a box are shown: the traced ones first. */
export const rowsOf = (data: BoxData, filter = ""): Rows => {
  const known = data.box.traced.filter((name) => !isHiddenField(name));
  const traced = known.slice(0, MOST_ROWS);
  const fields = data.schema?.answer ? columnsOf(data.schema.answer.data).map((one) => one.name) : [];
  const all = fields.length || !data.isUnfolded ? fields : markedColumns(data);
  const folded = data.isUnfolded ? all : [];
  const other = folded.filter((name) => !isHiddenField(name) && !known.includes(name));
  const fitting = filter ? other.filter((name) => name.toLowerCase().includes(filter.toLowerCase())) : other;
  return {
    traced,
    moreTraced: known.length - traced.length,
    hidden: new Set([...data.box.traced, ...folded].filter(isHiddenField)).size,
    isHiddenTraced: known.length < data.box.traced.length,
    rest: fitting.slice(0, MOST_ROWS),
    total: other.length,
  };
};

export const heightOf = (data: BoxData): number => {
  const { traced, moreTraced, hidden, rest, total } = rowsOf(data);
  const isEmpty = total === 0 && !traced.length && !hidden;
  const note = (data.isUnfolded && (total > MOST_ROWS || isEmpty) ? NOTE : 0) + (moreTraced ? NOTE : 0);
  const find = data.isUnfolded && total > MOST_ROWS ? FIND : 0;
  const rows = (traced.length + rest.length + (hidden ? 1 : 0)) * ROW;
  return HEAD + (rows || note || find ? 9 : 0) + rows + find + note + (data.box.writer ? FOOT : 0);
};

const HEAD_HANDLE = 29;

/** How far below its top a line meets a box: at the row of its column, else at its head. */
export const handleAt = (data: BoxData, handle: string | null | undefined): number => {
  const field = handle?.slice(handle.indexOf(":") + 1);
  if (!field || !handle?.includes(":")) return HEAD_HANDLE;
  const { traced, moreTraced } = rowsOf(data);
  const at = traced.indexOf(field);
  const above = at >= 0 ? at * ROW : traced.length * ROW + (moreTraced ? NOTE : 0);
  return HEAD + 5 + above + ROW / 2;
};

export const boxSize = (data: BoxData) => ({ width: WIDTH, height: heightOf(data) });
export const STUB_SIZE = { width: WIDTH, height: 64 };

/** Whether boxes are too small to read: then only names are drawn, so that hundreds of boxes are cheap. */
export const FarContext = createContext(false);

export const BoxView = memo(({ data }: NodeProps<BoxNode>) => {
  const { box, isRoot, isSelected, isUnfolded } = data;
  const isFar = useContext(FarContext);
  const actions = useActions();
  const [filter, setFilter] = useState("");
  const { traced, moreTraced, hidden, isHiddenTraced, rest, total } = rowsOf(data, filter);
  const name = shortName(box.id);
  const title = useLabel("title", name, LONGEST_TITLE);
  const isVeiled = isHidden(box.id);
  const marks = [
    isRoot && "root",
    isSelected && "selected",
    box.faded && "faded",
    isVeiled && "veiled",
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
      {box.fate && <em className={`fate fate-${box.fate}`}>{words.fates[box.fate]}</em>}
      {data.mark && !traced.some((field) => data.columnMarks?.has(fieldId(box.id, field))) && (
        <MarkView mark={data.mark} className="box-mark" />
      )}
      {!isVeiled && <HopButton box={box} side="up" name={name} />}
      {!isVeiled && <HopButton box={box} side="down" name={name} />}
      <div className="box-head">
        <button
          type="button"
          className="box-name"
          title={fullName(box.id)}
          disabled={isVeiled}
          onClick={() => actions.select(box.id)}
        >
          <NodeGlyph id={box.id} />
          <span className="box-text">
            <span className="box-title">{title}</span>
            <span className="box-place">
              {box.isCheck && (
                <em className="box-role" title={words.explorer.checkTitle}>
                  {words.explorer.check}
                </em>
              )}
              <WhereView id={box.id} isNarrow />
            </span>
          </span>
        </button>
        {box.kind === "dataset" && !isVeiled && (
          <button
            type="button"
            className="icon-button box-fold"
            aria-expanded={isUnfolded}
            aria-label={words.explorer.columns(name)}
            title={words.explorer.columns(name)}
            onClick={() => actions.toggleColumns(box.id)}
          >
            <Icon name={isUnfolded ? "down" : "right"} />
          </button>
        )}
      </div>
      {(traced.length > 0 || hidden > 0 || isUnfolded) && (
        <div className="box-columns">
          {traced.map((field) => (
            <Row key={field} data={data} field={field} isTraced />
          ))}
          {moreTraced > 0 && <p className="box-note">{words.explorer.hiddenTraced(moreTraced)}</p>}
          {hidden > 0 && <HiddenRow count={hidden} isTraced={isHiddenTraced} />}
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
          {isUnfolded && !data.schema?.waiting && total === 0 && !traced.length && !hidden && (
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
    {box.writer && !isHidden(box.writer) ? (
      <Go to={pageAddress("node", { node: box.writer })} className="box-writer" title={fullName(box.writer)}>
        {shortName(box.writer)}
      </Go>
    ) : (
      <span className="box-writer">{box.writer && shortName(box.writer)}</span>
    )}
    <span className="box-when">
      {box.run && words.ago((Date.now() - Date.parse(box.run.ended_at ?? box.run.said_at)) / 1_000)}
    </span>
  </div>
);

const Row = ({ data, field, isTraced = false }: { data: BoxData; field: string; isTraced?: boolean }) => {
  const { focus } = useActions();
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

/** The count of hidden columns. */
const HiddenRow = ({ count, isTraced }: { count: number; isTraced: boolean }) => (
  <div className="row hidden-row" title={words.hidden.ask}>
    {isTraced && <Handle type="target" position={Position.Left} id={`in:${HIDDEN_ROW}`} isConnectable={false} />}
    <span className="row-name">
      <span>{words.hidden.columns(count)}</span>
      <Icon name="lock" size={13} />
    </span>
    {isTraced && <Handle type="source" position={Position.Right} id={`out:${HIDDEN_ROW}`} isConnectable={false} />}
  </div>
);

const HopButton = ({ box, side, name }: { box: BoxOfPicture; side: Side; name: string }) => {
  const { toggleHop } = useActions();
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
      <Icon name={isOpen ? "minus" : "plus"} size={13} />
    </button>
  );
};

/** Neighbours that are too many to draw. */
export const StubView = memo(({ data: { stub } }: NodeProps<StubNode>) => {
  const { pick } = useActions();
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
