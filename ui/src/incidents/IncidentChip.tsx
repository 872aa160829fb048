// The state of an incident, and how urgent it is.

const LOOKS: Record<string, string> = { open: "chip-bad", acknowledged: "chip-warn", resolved: "chip-good" };

export const IncidentChip = ({ state, notify }: { state: string; notify?: string | null }) => (
  <span className="chips">
    <span className={`chip ${LOOKS[state] ?? ""}`}>{state}</span>
    {notify && <span className={`chip ${notify === "page" ? "chip-bad" : "chip-warn"}`}>{notify}</span>}
  </span>
);
