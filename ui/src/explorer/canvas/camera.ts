// The camera over the graph. While it moves, the painted layer is moved, and only boxes that become visible are drawn,
// a few times a second: the work of React Flow on each change of its viewport is too slow for every frame.

import { useEffect, useMemo, useRef } from "react";
import { useStoreApi, type Viewport } from "@xyflow/react";

const AT_ONCE = 250;
const START: Viewport = { x: 0, y: 0, zoom: 1 };

export interface Camera {
  /** Marks the transform as controlled for React Flow; it is constant, so that no movement is undone. */
  viewport: Viewport;
  onViewportChange: (to: Viewport) => void;
}

export const useCamera = (stage: React.RefObject<HTMLElement | null>): Camera => {
  const store = useStoreApi();
  const timer = useRef<number>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return useMemo(() => {
    let now = START;
    let published = START;
    // React Flow gets the viewport during a movement, and once more at its end.
    const settle = () => {
      timer.current = undefined;
      if (now === published) return stage.current?.classList.remove("panning");
      published = now;
      store.setState({ transform: [now.x, now.y, now.zoom] });
      timer.current = window.setTimeout(settle, AT_ONCE);
    };
    const onViewportChange = ({ x, y, zoom }: Viewport) => {
      // Whole pixels: the layer is neither repainted nor blurred.
      now = { x: Math.round(x), y: Math.round(y), zoom };
      if (stage.current) move(stage.current, now);
      timer.current ??= window.setTimeout(settle, AT_ONCE);
    };
    return { viewport: START, onViewportChange };
    // eslint-disable-next-line react-hooks/exhaustive-deps -- a ref is the same for ever
  }, [store]);
};

const move = (stage: HTMLElement, { x, y, zoom }: Viewport): void => {
  stage.classList.add("panning");
  const drawn = stage.querySelector<HTMLElement>(".react-flow__viewport");
  if (drawn) drawn.style.transform = `translate(${x}px,${y}px) scale(${zoom})`;
};
