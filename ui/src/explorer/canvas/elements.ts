// The nodes and edges of React Flow: boxes with their sizes, and lines with their routes.

import { MarkerType } from "@xyflow/react";
import { useMemo } from "react";
import type { Explored } from "../../address";
import { writersOf } from "../../graph/model";
import type { Link, Places, Sized } from "../../graph/placement";
import { routed } from "../../graph/route";
import { isHiddenField, shortName, wholeName } from "../../names";
import { words } from "../../texts";
import { boxSize, handleAt, HIDDEN_ROW, rowsOf, STUB_SIZE, type BoxData } from "./Box";
import type { Lensed } from "../lens";
import type { LineEdge } from "./LineView";
import { useColumns, type Seen } from "../answers";

export const MOST_BOXES = 400;

/** Each box that has a place, with it. */
export const rectsOf = (sized: readonly Sized[], places: Places) =>
  sized.flatMap((one) => {
    const at = places.get(one.id);
    return at ? [{ ...one, ...at }] : [];
  });

/** Each line with its route between the boxes. */
export const withRoutes = (
  lines: readonly LineEdge[],
  boxes: readonly BoxData[],
  sized: readonly Sized[],
  places: Places,
): LineEdge[] => {
  const drawn = new Map(boxes.map((data) => [data.box.id, data]));
  const rects = rectsOf(sized, places);
  const heightOf = (id: string, handle: string | null | undefined): number => {
    const data = drawn.get(id);
    return (places.get(id)?.y ?? 0) + (data ? handleAt(data, handle) : STUB_SIZE.height / 2);
  };
  const wires = lines.map(({ id, source, target, sourceHandle, targetHandle }) => ({
    id,
    source,
    target,
    from: heightOf(source, sourceHandle),
    to: heightOf(target, targetHandle),
  }));
  const routes = routed(rects, wires);
  return lines.map((line) => ({ ...line, data: { isSelected: false, ...line.data, route: routes.get(line.id) } }));
};

const handleOf = (end: "in" | "out", field: string | undefined, rows: ReadonlySet<string>): string => {
  if (field === undefined) return end;
  return isHiddenField(field) ? `${end}:${HIDDEN_ROW}` : rows.has(field) ? `${end}:${field}` : end;
};

/** The nodes and edges of React Flow, without places. */
export const useElements = (explored: Explored, seen: Seen, lensed: Lensed) => {
  const { picture } = seen;
  const unfolded = explored.columns.filter((id) => picture.boxes.some((box) => box.id === id));
  const schemas = useColumns(unfolded);
  const schemaStates = unfolded.map((id) => (schemas.get(id)?.waiting ? "w" : "a")).join("");
  return useMemo(() => {
    const boxes: BoxData[] = picture.boxes.slice(0, MOST_BOXES).map((box) => ({
      box,
      isRoot: box.id === explored.node,
      isSelected: box.id === explored.selected,
      isUnfolded: unfolded.includes(box.id),
      focus: explored.focus,
      schema: schemas.get(box.id),
      mark: lensed.marks.get(box.id),
      columnMarks: lensed.columns,
    }));
    const rows = new Map(boxes.map((data) => [data.box.id, new Set(rowsOf(data).traced)]));
    const sized: Sized[] = [
      ...boxes.map((data) => ({ id: data.box.id, ...boxSize(data) })),
      ...picture.stubs.map(({ id }) => ({ id, ...STUB_SIZE })),
    ];
    const stubLinks = picture.stubs.map(({ id, of, side }) =>
      side === "up" ? { source: id, target: of } : { source: of, target: id },
    );
    const links: Link[] = [...picture.lines.map(({ source, target }) => ({ source, target })), ...stubLinks];
    const lines: LineEdge[] = picture.lines
      .filter((line) => rows.has(line.source) && rows.has(line.target))
      .map((line) => ({
        id: line.id,
        type: "line",
        source: line.source,
        target: line.target,
        sourceHandle: handleOf("out", line.sourceField, rows.get(line.source)!),
        targetHandle: handleOf("in", line.targetField, rows.get(line.target)!),
        data: { line, isSelected: explored.edge?.source === line.from && explored.edge.target === line.to },
        className: line.faded ? "faded" : undefined,
        zIndex: line.faded ? 0 : 1,
        ariaRole: "button",
        // Boxes come first for the keyboard; the lines of a box are listed beside it.
        domAttributes: { tabIndex: -1 },
        ariaLabel: words.explorer.line(
          wholeName(line.from),
          wholeName(line.to),
          words.flows[line.flow],
          writersOf(line).map(shortName),
        ),
        markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14, color: "var(--line-head)" },
      }));
    const drawnStubs: LineEdge[] = stubLinks.map((link) => ({
      ...link,
      id: `${link.source} ${link.target}`,
      type: "line",
      sourceHandle: "out",
      targetHandle: "in",
      focusable: false,
      data: { isSelected: false },
    }));
    return { boxes, stubs: picture.stubs, sized, links, lines: [...lines, ...drawnStubs] };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- texts say which columns are unfolded and read
  }, [
    picture,
    explored.selected,
    explored.focus,
    explored.edge?.source,
    explored.edge?.target,
    explored.node,
    // eslint-disable-next-line react-hooks/exhaustive-deps -- texts say which columns are unfolded and read
    unfolded.join("\n"),
    schemaStates,
    lensed,
  ]);
};
