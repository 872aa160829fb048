// The state of an objective, and its most urgent open alert.

import { words } from "../texts";

const LOOKS: Record<string, string> = { holds: "chip-good", violated: "chip-bad" };

export const StateChip = ({ state, notify }: { state: string; notify?: string | null }) => (
  <span className="chips">
    <span className={`chip ${LOOKS[state] ?? ""}`}>{state}</span>
    {notify && (
      <span className={`chip ${notify === "page" ? "chip-bad" : "chip-warn"}`}>{words.slos.open(notify)}</span>
    )}
  </span>
);
