// A verdict in one word, in its colour.

const LOOKS: Record<string, string> = { pass: "chip-good", note: "chip-good", blocked: "chip-bad" };

export const VerdictChip = ({ verdict }: { verdict: string }) => (
  <span className={`chip ${LOOKS[verdict] ?? "chip-warn"}`}>{verdict}</span>
);
