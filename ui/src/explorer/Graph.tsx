// The drawn graph: keeps every box where it is, and asks for a tidy layout only at first and when told to.

import {
  Controls,
  MarkerType,
  MiniMap,
  ReactFlow,
  useReactFlow,
  useStore,
  type EdgeTypes,
  type NodeTypes,
} from "@xyflow/react";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Explored } from "../address";
import { boxOf, isHidden, isHiddenField, place, shortName, typeOf, wholeName } from "../names";
import { bounds, placed, settled, WIDTH, type Link, type Places, type Point, type Sized } from "../graph/place";
import { routed } from "../graph/route";
import { tidy } from "../graph/tidy";
import type { Line } from "../graph/model";
import { words } from "../words";
import {
  boxSize,
  BoxView,
  FarContext,
  handleAt,
  HIDDEN_ROW,
  rowsOf,
  STUB_SIZE,
  StubView,
  type BoxData,
  type BoxNode,
  type StubNode,
} from "./Box";
import { LineView, type LineEdge } from "./LineView";
import { useCamera } from "./camera";
import { Ground } from "./Ground";
import { useColumns, type Seen } from "./told";
import { useActing } from "./acting";
import type { Lensed } from "./lens";
import { drawing } from "./image";

const NODES: NodeTypes = { box: BoxView, stub: StubView };
const EDGES: EdgeTypes = { line: LineView };
export const MOST_BOXES = 400;
const CULLED_FROM = 80;
const MAP_FROM = 60;
/** Below this, text is smaller than 11 px, and rows are too small to be pressed. */
const LEAST_ZOOM = 0.87;
const FAR_ZOOM = 0.32;
const LARGE_SCREEN = 2_200;
const SLOWLY = { duration: 250 };

export interface Commands {
  tidy: () => void;
  fit: () => void;
  /** The whole graph as it is drawn, as SVG. */
  image?: () => Promise<string>;
  undo?: () => void;
}

interface Props {
  explored: Explored;
  seen: Seen;
  lensed: Lensed;
  commands: (commands: Commands) => void;
  onOrder: (order: Map<string, Point>) => void;
}

export const Graph = ({ explored, seen, lensed, commands, onOrder }: Props) => {
  const { change, select } = useActing();
  const flow = useReactFlow();
  const stage = useRef<HTMLDivElement>(null);
  const camera = useCamera(stage);
  const isFar = useStore(({ transform }) => transform[2] < FAR_ZOOM);
  const { boxes, stubs, lines, sized, links } = useDrawn(explored, seen, lensed);
  const [places, setPlaces] = useState<{ key: string; at: Map<string, Point> }>({ key: "", at: new Map() });
  const [before, setBefore] = useState<Map<string, Point>>();
  const [isMoving, setMoving] = useState(false);
  const [isWhole, setWhole] = useState(false);
  const key = `${explored.node} ${explored.pathTo ?? ""}`;
  const isFirst = places.key !== key;
  const ids = sized.map((one) => one.id).join("\n");
  const fitted = useRef("");

  // Where all would be too small to read, the camera goes to the start instead.
  const show = (camera: { duration?: number }, root?: Point) => {
    const stage = stageSize();
    const all = flow.getNodesBounds(flow.getNodes());
    const whole = Math.min(stage.width / (all.width + 2 * EDGE), stage.height / (all.height + 2 * EDGE));
    const most = stage.width > LARGE_SCREEN ? 1.5 : 1;
    if (!root || whole > LEAST_ZOOM) return void flow.fitView({ ...camera, padding: `${EDGE}px`, maxZoom: most });
    // As much of the rest as there is room for.
    const x = within(root.x + WIDTH / 2, all.x, all.width, stage.width / LEAST_ZOOM);
    const y = within(root.y + 40, all.y, all.height, stage.height / LEAST_ZOOM);
    void flow.setCenter(x, y, { ...camera, zoom: LEAST_ZOOM });
  };
  const fit = () => show(SLOWLY);
  const bringIntoSight = ({ x, y }: Point) => {
    const { width, height } = stageSize();
    const { x: left, y: top, zoom } = flow.getViewport();
    const [from, to] = [left + x * zoom, left + (x + WIDTH) * zoom];
    const middle = top + (y + 40) * zoom;
    const isSeen = from >= 0 && to <= width && middle >= 40 && middle <= height - 40;
    if (!isSeen) void flow.setCenter(x + WIDTH / 2, y + 40, { ...SLOWLY, zoom });
  };

  useLayoutEffect(() => {
    if (isFirst || seen.waiting) return;
    setPlaces((now) => ({ key, at: placed(sized, links, now.at) }));
  }, [ids, isFirst, seen.waiting]);

  useEffect(() => {
    if (!isFirst || seen.waiting || !sized.length) return;
    let current = true;
    void tidy(sized, links).then((at) => {
      if (current) setPlaces({ key, at });
    });
    return () => {
      current = false;
    };
  }, [ids, isFirst, seen.waiting, key]);

  const resettled = useMemo(() => settled(sized, places.at), [sized, places]);
  const edges = useMemo(() => withRoutes(lines, boxes, sized, resettled), [lines, boxes, sized, resettled]);
  const ground = useMemo(() => bounds(sized, resettled), [resettled]);
  useEffect(() => onOrder(resettled), [resettled]);

  const isBeyond = useStore(({ transform: [x, y, zoom], width, height }) => {
    const edges = [x + ground.x * zoom, y + ground.y * zoom];
    const ends = [edges[0]! + ground.width * zoom - width, edges[1]! + ground.height * zoom - height];
    return !isFirst && sized.length > 6 && (edges.some((one) => one < -BEYOND) || ends.some((one) => one > BEYOND));
  });
  // What a panel is about stays in sight when the panel takes a part of the stage.
  const about =
    explored.panel && (explored.edge?.target ? boxOf(explored.edge.target) : (explored.selected ?? explored.node));
  useEffect(() => {
    const at = about && fitted.current ? resettled.get(about) : undefined;
    if (!at) return;
    const wait = requestAnimationFrame(() => bringIntoSight(at));
    return () => cancelAnimationFrame(wait);
  }, [about, explored.panel]);

  // Once for each start, path and traced column; opening hops leaves the camera alone.
  const scene = `${key} ${explored.focus ?? ""} ${explored.influence}`;
  useEffect(() => {
    if (isFirst || seen.waiting || !resettled.size || fitted.current === scene) return;
    const isOpening = !fitted.current.startsWith(key);
    fitted.current = scene;
    const root = resettled.get(explored.node);
    requestAnimationFrame(() => show(isOpening ? {} : SLOWLY, root));
  }, [scene, isFirst, seen.waiting, resettled]);

  const move = (at: Map<string, Point>) => {
    setMoving(true);
    setPlaces({ key, at });
    setTimeout(() => {
      setMoving(false);
      fit();
    }, 220);
  };
  // What is out of sight is not drawn, so it has to be for a moment.
  const whole = async (): Promise<string> => {
    setWhole(true);
    await painted();
    const drawn = drawing(flow.getNodesBounds(flow.getNodes()), flow.getViewport());
    setWhole(false);
    return drawn;
  };
  const showEvidence = (line: Line) => change({ edge: { source: line.from, target: line.to }, panel: "edge" });
  const undo =
    before &&
    (() => {
      setBefore(undefined);
      move(before);
    });
  useEffect(
    () =>
      commands({
        tidy: () => {
          setBefore(places.at);
          void tidy(sized, links).then(move);
        },
        fit,
        undo,
        image: whole,
      }),
    [places, sized, links, before],
  );

  const nodes = useMemo(
    () => [
      ...boxes.flatMap((data): BoxNode[] => {
        const position = resettled.get(data.box.id);
        const label = words.explorer.box(
          words.types[typeOf(data.box.id)] ?? data.box.kind,
          shortName(data.box.id),
          place(data.box.id),
          data.box.traced.length,
        );
        return position ? [{ id: data.box.id, type: "box", position, data, ...boxSize(data), ariaLabel: label }] : [];
      }),
      ...stubs.flatMap((stub): StubNode[] => {
        const position = resettled.get(stub.id);
        return position ? [{ id: stub.id, type: "stub", position, data: { stub }, ...STUB_SIZE }] : [];
      }),
    ],
    [boxes, stubs, resettled],
  );

  return (
    <FarContext value={isFar && !isWhole}>
      <ReactFlow
        ref={stage}
        {...camera}
        className={isMoving ? "moving" : undefined}
        nodes={nodes}
        edges={edges}
        nodeTypes={NODES}
        edgeTypes={EDGES}
        nodesDraggable={false}
        nodesConnectable={false}
        elementsSelectable={false}
        edgesFocusable
        deleteKeyCode={null}
        onlyRenderVisibleElements={nodes.length > CULLED_FROM && !isWhole}
        minZoom={0.15}
        maxZoom={1.6}
        proOptions={{ hideAttribution: true }}
        onEdgeClick={(_, { data }) => {
          if (data?.line) showEvidence(data.line);
        }}
        onPaneClick={() =>
          change({
            selected: undefined,
            edge: undefined,
            ...(explored.panel === "edge" || explored.panel === "about" ? { panel: undefined } : {}),
          })
        }
        onNodeClick={({ target }, node) => {
          if (node.type === "box" && !isControl(target) && !isHidden(node.id)) select(node.id);
        }}
        onKeyDown={(event) => {
          const id =
            event.key === "Enter" && event.target instanceof Element ? event.target.getAttribute("data-id") : null;
          const line = lines.find((one) => one.id === id)?.data?.line;
          if (line) showEvidence(line);
          else if (id && !isHidden(id) && seen.picture.boxes.some((box) => box.id === id)) select(id);
        }}
        zoomOnDoubleClick={false}
        role="group"
        aria-label={words.explorer.map}
      >
        <Ground {...ground} />
        <Controls showInteractive={false} showFitView={false} position="bottom-right" />
        {(nodes.length > MAP_FROM || isBeyond) && <MiniMap pannable zoomable position="top-right" />}
        {isFirst && sized.length > 0 && <div className="laying">{words.explorer.first}</div>}
      </ReactFlow>
    </FarContext>
  );
};

/** Each line with its way between the boxes. */
const withRoutes = (
  lines: readonly LineEdge[],
  boxes: readonly BoxData[],
  sized: readonly Sized[],
  places: Places,
): LineEdge[] => {
  const drawn = new Map(boxes.map((data) => [data.box.id, data]));
  const rects = sized.flatMap((one) => {
    const at = places.get(one.id);
    return at ? [{ ...one, ...at }] : [];
  });
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

/** So much of a graph may be out of sight without a map. */
const BEYOND = 60;
/** Room around the graph, the buttons at its sides among it. */
const EDGE = 20;

/** The middle of a window over `from … from + length` that has `wanted` near its middle and shows nothing beyond. */
const within = (wanted: number, from: number, length: number, window: number): number => {
  const half = window / 2 - EDGE;
  return length <= 2 * half ? from + length / 2 : Math.min(Math.max(wanted, from + half), from + length - half);
};

const painted = (): Promise<void> =>
  new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 60))));

const stageSize = (): { width: number; height: number } => {
  const { clientWidth = 1, clientHeight = 1 } = document.querySelector(".stage") ?? {};
  return { width: clientWidth, height: clientHeight };
};

const handleOf = (end: "in" | "out", field: string | undefined, rows: ReadonlySet<string>): string => {
  if (field === undefined) return end;
  return isHiddenField(field) ? `${end}:${HIDDEN_ROW}` : rows.has(field) ? `${end}:${field}` : end;
};

const isControl = (target: EventTarget): boolean =>
  target instanceof Element && target.closest("button, input, a") !== null;

/** What React Flow draws, without the places. */
const useDrawn = (explored: Explored, seen: Seen, lensed: Lensed) => {
  const { picture } = seen;
  const unfolded = explored.columns.filter((id) => picture.boxes.some((box) => box.id === id));
  const schemas = useColumns(unfolded);
  const told = unfolded.map((id) => (schemas.get(id)?.waiting ? "w" : "a")).join("");
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
        ariaLabel: words.explorer.line(wholeName(line.from), wholeName(line.to), words.flows[line.flow]),
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
  }, [
    picture,
    explored.selected,
    explored.focus,
    explored.edge?.source,
    explored.edge?.target,
    explored.node,
    unfolded.join("\n"),
    told,
    lensed,
  ]);
};
