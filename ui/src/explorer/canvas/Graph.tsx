// The drawn graph. Boxes keep their places; a new layout is computed only at first and on request.

import {
  Controls,
  MiniMap,
  ReactFlow,
  useReactFlow,
  useStore,
  useStoreApi,
  type EdgeTypes,
  type NodeTypes,
} from "@xyflow/react";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Explored } from "../../address";
import { boxOf, isHidden, place, shortName, typeOf } from "../../names";
import { bounds, placed, settled, WIDTH, type Point } from "../../graph/placement";
import { freeCorner, viewOf, type Corner } from "../../graph/view";
import { tidy } from "../../graph/layout";
import type { Line } from "../../graph/model";
import { words } from "../../texts";
import { boxSize, BoxView, FarContext, STUB_SIZE, StubView, type BoxNode, type StubNode } from "./Box";
import { rectsOf, useElements, withRoutes } from "./elements";
import { LineTip, type Tip } from "./LineTip";
import { LineView } from "./LineView";
import { useCamera } from "./camera";
import { Background } from "./Background";
import type { Seen } from "../answers";
import { useActions } from "../actions";
import type { Lensed } from "../lens";
import { drawing } from "../export/image";

const NODES: NodeTypes = { box: BoxView, stub: StubView };
const EDGES: EdgeTypes = { line: LineView };
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
  const { change, select } = useActions();
  const flow = useReactFlow();
  const store = useStoreApi();
  const stage = useRef<HTMLDivElement>(null);
  const camera = useCamera(stage);
  const isFar = useStore(({ transform }) => transform[2] < FAR_ZOOM);
  const { boxes, stubs, lines, sized, links } = useElements(explored, seen, lensed);
  const [places, setPlaces] = useState<{ key: string; at: Map<string, Point> }>({ key: "", at: new Map() });
  const [before, setBefore] = useState<Map<string, Point>>();
  const [isMoving, setMoving] = useState(false);
  const [isWhole, setWhole] = useState(false);
  const key = `${explored.node} ${explored.pathTo ?? ""}`;
  const isFirst = places.key !== key;
  const ids = sized.map((one) => one.id).join("\n");
  const fitted = useRef("");
  const [corner, setCorner] = useState<Corner>("top-right");
  /** Whether the camera is where we put it. */
  const isUntouched = useRef(true);
  const tip = useRef<(tip: Tip | undefined) => void>(undefined);

  // If the whole graph would be too small to read, the camera shows the start instead.
  const show = (camera: { duration?: number }, root?: Point) => {
    const stage = openStage();
    const most = stage.width > LARGE_SCREEN ? 1.5 : 1;
    const around = root && { x: root.x + WIDTH / 2, y: root.y + 40 };
    const view = viewOf(flow.getNodesBounds(flow.getNodes()), stage, around, { least: LEAST_ZOOM, most, edge: EDGE });
    isUntouched.current = true;
    setCorner(freeCorner(rectsOf(sized, resettled), view, stage, MAP_SIZE));
    void flow.setViewport(view, camera);
    // A jump is over at once, so what depends on the camera need not wait until it rests.
    if (!camera.duration) store.setState({ transform: [view.x, view.y, view.zoom] });
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
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `ids` says which boxes and links there are
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
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `ids` says which boxes and links there are
  }, [ids, isFirst, seen.waiting, key]);

  const resettled = useMemo(() => settled(sized, places.at), [sized, places]);
  const edges = useMemo(() => withRoutes(lines, boxes, sized, resettled), [lines, boxes, sized, resettled]);
  // eslint-disable-next-line react-hooks/exhaustive-deps -- places follow the boxes
  const ground = useMemo(() => bounds(sized, resettled), [resettled]);
  // eslint-disable-next-line react-hooks/exhaustive-deps -- only another order is reported
  useEffect(() => onOrder(resettled), [resettled]);

  const isBeyond = useStore(({ transform: [x, y, zoom], width, height }) => {
    const edges = [x + ground.x * zoom, y + ground.y * zoom];
    const ends = [edges[0]! + ground.width * zoom - width, edges[1]! + ground.height * zoom - height];
    return !isFirst && sized.length > 6 && (edges.some((one) => one < -BEYOND) || ends.some((one) => one > BEYOND));
  });
  // The subject of a panel remains visible when the panel covers a part of the stage.
  const about =
    explored.panel && (explored.edge?.target ? boxOf(explored.edge.target) : (explored.selected ?? explored.node));
  useEffect(() => {
    const at = about && fitted.current ? resettled.get(about) : undefined;
    if (!at) return;
    const wait = requestAnimationFrame(() => bringIntoSight(at));
    return () => cancelAnimationFrame(wait);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the camera moves when a panel opens, not when boxes do
  }, [about, explored.panel]);
  // When the stage changes its size, the whole graph is shown again unless the user moved the camera.
  const refit = useRef(() => undefined as void);
  refit.current = () => {
    const at = resettled.get(about ?? "") ?? resettled.get(explored.node);
    if (fitted.current && isUntouched.current) show(SLOWLY, at);
    else if (fitted.current && about && at) bringIntoSight(at);
  };
  useStageSize(() => refit.current());

  // Once for each start, path and traced column; opening hops leaves the camera alone.
  const scene = `${key} ${explored.focus ?? ""} ${explored.influence}`;
  useEffect(() => {
    if (isFirst || seen.waiting || !resettled.size || fitted.current === scene) return;
    const isOpening = !fitted.current.startsWith(key);
    fitted.current = scene;
    const root = resettled.get(explored.node);
    requestAnimationFrame(() => show(isOpening ? {} : SLOWLY, root));
    // eslint-disable-next-line react-hooks/exhaustive-deps -- once for each scene
  }, [scene, isFirst, seen.waiting, resettled]);

  const move = (at: Map<string, Point>) => {
    setMoving(true);
    setPlaces({ key, at });
    setTimeout(() => {
      setMoving(false);
      fit();
    }, 220);
  };
  // Boxes outside the viewport are not drawn, so all are drawn for the export.
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
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the commands close over these only
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
        onMoveStart={(event) => {
          if (event) isUntouched.current = false;
        }}
        onEdgeMouseEnter={({ clientX, clientY }, { data }) =>
          tip.current?.(data?.line && { line: data.line, x: clientX, y: clientY })
        }
        onEdgeMouseLeave={() => tip.current?.(undefined)}
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
        <Background {...ground} />
        <Controls
          showInteractive={false}
          showFitView={false}
          position="bottom-right"
          onZoomIn={() => (isUntouched.current = false)}
          onZoomOut={() => (isUntouched.current = false)}
        />
        {(nodes.length > MAP_FROM || isBeyond) && <MiniMap pannable zoomable position={corner} />}
        {isFirst && sized.length > 0 && <div className="laying">{words.explorer.first}</div>}
      </ReactFlow>
      <LineTip show={tip} />
    </FarContext>
  );
};

/** So much of a graph may be out of sight without a map. */
const BEYOND = 60;
/** Room around the graph, the buttons at its sides among it. */
const EDGE = 20;

/** The map of all, with the room around it. */
const MAP_SIZE = { width: 230, height: 180 };

const painted = (): Promise<void> =>
  new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 60))));

const stageSize = (): { width: number; height: number } => {
  const { clientWidth = 1, clientHeight = 1 } = document.querySelector(".stage") ?? {};
  return { width: clientWidth, height: clientHeight };
};

/** The stage above the legend. */
const openStage = (): { width: number; height: number } => {
  const { width, height } = stageSize();
  const legend = document.querySelector<HTMLElement>(".legend")?.offsetHeight ?? 0;
  // On a low stage the legend may lie over a corner.
  return { width, height: legend < height / 4 ? height - legend : height };
};

/** Calls back when the stage is another size than before. */
const useStageSize = (changed: () => void): void => {
  useEffect(() => {
    const stage = document.querySelector(".stage");
    let before = stageSize();
    const sizes = new ResizeObserver(() => {
      const now = stageSize();
      if (now.width === before.width && now.height === before.height) return;
      before = now;
      changed();
    });
    if (stage) sizes.observe(stage);
    return () => sizes.disconnect();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- one observer for the life of the stage
  }, []);
};

const isControl = (target: EventTarget): boolean =>
  target instanceof Element && target.closest("button, input, a") !== null;
