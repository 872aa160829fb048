// The camera over the graph. While it moves, one layer moves as it was painted, and nothing is drawn anew but what
// comes into sight, a few times a second: what React Flow does on each change of its viewport costs too much a frame.

import { useEffect, useMemo, useRef } from "react";
import { useStoreApi, type Viewport } from "@xyflow/react";

const AT_ONCE = 250;
const START: Viewport = { x: 0, y: 0, zoom: 1 };

export interface Camera {
  /** Says to React Flow that we move what it drew; it never changes, so that nothing takes a movement back. */
  viewport: Viewport;
  onViewportChange: (to: Viewport) => void;
}

export const useCamera = (stage: React.RefObject<HTMLElement | null>): Camera => {
  const store = useStoreApi();
  const timer = useRef<number>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return useMemo(() => {
    let now = START;
    let told = START;
    // React Flow is told while it moves, and once more when it rests.
    const settle = () => {
      timer.current = undefined;
      if (now === told) return stage.current?.classList.remove("panning");
      told = now;
      store.setState({ transform: [now.x, now.y, now.zoom] });
      timer.current = window.setTimeout(settle, AT_ONCE);
    };
    const onViewportChange = ({ x, y, zoom }: Viewport) => {
      // Whole pixels: what is painted need not be painted anew, nor blurred.
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
