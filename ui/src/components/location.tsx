// The location of a node: its system, account, host or bucket, and the path within it. Each location has a chip with
// one colour everywhere, and a unique label.

import { useSyncExternalStore, type ReactNode } from "react";
import { isHidden, placeOf } from "../names";
import { labelsOf, toneOf } from "../labels";
import { words } from "../texts";

interface Group {
  most: number;
  texts: Set<string>;
  labels: Map<string, string>;
}
const groups = new Map<string, Group>();
const listeners = new Set<() => void>();
const listen = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};
let isNotifying = false;
const notifyListeners = (): void => {
  if (isNotifying) return;
  isNotifying = true;
  queueMicrotask(() => {
    isNotifying = false;
    listeners.forEach((one) => one());
  });
};

/** The label of a text among all of its group that were shown since the page was loaded. */
const labelOf = (name: string, text: string, most: number): string => {
  if (text.length <= most) return text;
  const key = `${most} ${name}`;
  const group = groups.get(key) ?? { most, texts: new Set<string>(), labels: new Map<string, string>() };
  groups.set(key, group);
  if (!group.texts.has(text)) {
    group.texts.add(text);
    const before = group.labels;
    group.labels = labelsOf([...group.texts], most);
    if ([...before].some(([one, label]) => group.labels.get(one) !== label)) notifyListeners();
  }
  return group.labels.get(text) ?? text;
};

/** A short label of a text, different from those of all other texts of its group. */
export const useLabel = (group: string, text: string, most: number): string =>
  useSyncExternalStore(listen, () => labelOf(group, text, most));

const LONGEST_INSTANCE = 22;
const NARROW_INSTANCE = 16;
const LONGEST_PATH = 44;

/** The account, host, bucket or namespace, as a chip. */
export const Instance = ({ text, most = LONGEST_INSTANCE }: { text: string; most?: number }) => {
  const label = useLabel("instance", text, most);
  if (!text) return null;
  return (
    <span className={`instance ${toneOf(text)}`} title={text}>
      {label}
    </span>
  );
};

interface WhereProps {
  id: string;
  /** In a box of the graph. */
  isNarrow?: boolean;
  /** Renders a text; by default unchanged. */
  drawn?: (text: string) => ReactNode;
}

export const WhereView = ({ id, isNarrow = false, drawn = (text) => text }: WhereProps) => {
  const { system, instance, path } = placeOf(id);
  const most = isNarrow ? roomBeside(instance) : LONGEST_PATH;
  const whole = [system, path].filter(Boolean).join(" · ");
  const text = isNarrow && whole.length > most ? path || system : whole;
  const label = useLabel("path", text, most);
  if (isHidden(id)) return <span title={words.hidden.ask}>{words.hidden.noAccess}</span>;
  return (
    <span className="where">
      {instance && <Instance text={instance} most={isNarrow ? NARROW_INSTANCE : LONGEST_INSTANCE} />}
      {instance && text && " "}
      {text && (
        <span className="where-path" title={whole}>
          {drawn(label)}
        </span>
      )}
    </span>
  );
};

/** How many characters fit beside the chip in a box of the graph. */
const roomBeside = (instance: string): number =>
  instance ? Math.max(9, 23 - Math.min(NARROW_INSTANCE, instance.length)) : 25;
