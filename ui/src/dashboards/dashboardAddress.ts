// The address of a dashboard and its open part.

import { pageAddress } from "../address";

export const BOARDS = ["oncall", "executive", "governance", "debug"] as const;
export type Board = (typeof BOARDS)[number];

export const boardAddress = (of: Board, values: Record<string, string | undefined> = {}): string =>
  pageAddress("board", {
    of,
    ...Object.fromEntries(Object.entries(values).filter((one): one is [string, string] => Boolean(one[1]))),
  });
