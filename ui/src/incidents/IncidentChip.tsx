// The state of an incident, how urgent it is, and whether it is silenced.

import { Icon } from "../components/elements";
import { words } from "../texts";

const LOOKS: Record<string, string> = { open: "chip-bad", acknowledged: "chip-warn", resolved: "chip-good" };

interface Props {
  state: string;
  notify?: string | null;
  isSilenced?: boolean;
}

export const IncidentChip = ({ state, notify, isSilenced = false }: Props) => (
  <span className="chips">
    <span className={`chip ${LOOKS[state] ?? ""}`}>{state}</span>
    {notify && <span className={`chip ${notify === "page" ? "chip-bad" : "chip-warn"}`}>{notify}</span>}
    {isSilenced && (
      <span className="chip">
        <Icon name="silent" size={12} />
        {words.incidents.isSilenced}
      </span>
    )}
  </span>
);
