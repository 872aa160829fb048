// The actions of the explorer. Each action only changes the address.

import { createContext, useContext } from "react";
import type { Explored, Side } from "../address";

export interface Actions {
  change: (patch: Partial<Explored>, how?: "push" | "replace") => void;
  toggleHop: (node: string, side: Side, open: boolean) => void;
  toggleColumns: (node: string) => void;
  focus: (field: string | undefined) => void;
  select: (node: string) => void;
  pick: (node: string, side: Side) => void;
}

export const ActionsContext = createContext<Actions | null>(null);

export const useActions = (): Actions => {
  const actions = useContext(ActionsContext);
  if (!actions) throw new Error("outside of the explorer");
  return actions;
};

const without = <T>(some: readonly T[], one: T): T[] => some.filter((other) => other !== one);

export const toggled = <T>(some: readonly T[], one: T): T[] =>
  some.includes(one) ? without(some, one) : [...some, one];

/** Open or close one hop. The first hops of the start are open unless they are shut. */
export const hopToggled = (now: Explored, node: string, side: Side, open: boolean): Partial<Explored> => {
  if (node === now.node) return { shut: open ? without(now.shut, side) : [...now.shut, side] };
  const rest = now.open.filter((hop) => hop.node !== node || hop.side !== side);
  return { open: open ? [...rest, { node, side }] : rest };
};
