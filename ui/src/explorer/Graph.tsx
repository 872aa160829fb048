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
import { parseName, place, shortName } from "../names";
import { bounds, placed, settled, WIDTH, type Link, type Point, type Sized } from "../graph/place";
import { tidy } from "../graph/tidy";
import type { Line } from "../graph/model";
import { words } from "../words";
import {
  boxSize,
  BoxView,
  FarContext,
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
const LEAST_ZOOM = 0.42;
const FAR_ZOOM = 0.32;
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
    const isReadable = !root || Math.min(stage.width / all.width, stage.height / all.height) > LEAST_ZOOM;
    if (isReadable) return void flow.fitView({ ...camera, padding: 0.1, maxZoom: 1 });
    void flow.setCenter(root.x + WIDTH / 2, root.y + 40, { ...camera, zoom: LEAST_ZOOM + 0.2 });
  };
  const fit = () => show(SLOWLY);

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
  const ground = useMemo(() => bounds(sized, resettled), [resettled]);
  useEffect(() => onOrder(resettled), [resettled]);

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
        const { kind } = parseName(data.box.id);
        const label = words.explorer.box(
          words.kinds[kind] ?? kind,
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
        edges={lines}
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
          if (node.type === "box" && !isControl(target)) select(node.id);
        }}
        onKeyDown={(event) => {
          const id =
            event.key === "Enter" && event.target instanceof Element ? event.target.getAttribute("data-id") : null;
          const line = lines.find((one) => one.id === id)?.data?.line;
          if (line) showEvidence(line);
          else if (id && seen.picture.boxes.some((box) => box.id === id)) select(id);
        }}
        zoomOnDoubleClick={false}
        aria-label={words.explorer.map}
      >
        <Ground {...ground} />
        <Controls showInteractive={false} showFitView={false} position="bottom-right" />
        {nodes.length > MAP_FROM && <MiniMap pannable zoomable position="top-right" />}
        {isFirst && sized.length > 0 && <div className="laying">{words.explorer.first}</div>}
      </ReactFlow>
    </FarContext>
  );
};

const painted = (): Promise<void> =>
  new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 60))));

const stageSize = (): { width: number; height: number } => {
  const { clientWidth = 1, clientHeight = 1 } = document.querySelector(".stage") ?? {};
  return { width: clientWidth, height: clientHeight };
};

const isControl = (target: EventTarget): boolean =>
  target instanceof Element && target.closest("button, input") !== null;

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
        sourceHandle:
          line.sourceField && rows.get(line.source)!.has(line.sourceField) ? `out:${line.sourceField}` : "out",
        targetHandle:
          line.targetField && rows.get(line.target)!.has(line.targetField) ? `in:${line.targetField}` : "in",
        data: { line, isSelected: explored.edge?.source === line.from && explored.edge.target === line.to },
        className: line.faded ? "faded" : undefined,
        zIndex: line.faded ? 0 : 1,
        ariaRole: "button",
        ariaLabel: words.explorer.line(shortName(line.from), shortName(line.to), words.flows[line.flow]),
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
