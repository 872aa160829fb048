// Lists that are shown page after page.

import { useInfiniteQuery } from "@tanstack/react-query";
import { asked, type Values } from "./addresses";
import { fetched, lifetime, outcome, type Answered } from "./queries";

interface Paged {
  page: { next: string | null } | null;
}

export interface Pages<Answer> {
  pages: readonly Answer[];
  /** Asks for the next one, if there is one. */
  more?: () => void;
  state: Answered<unknown>;
}

/** Pages of an answer, one after the other, as far as they were asked for. A refresh asks for as many again. */
export const usePages = <Answer extends Paged>(path: string, values: Values): Pages<Answer> => {
  const first = asked(path, values);
  const { data, error, hasNextPage, fetchNextPage, isFetchNextPageError } = useInfiniteQuery({
    queryKey: [first, "pages"],
    queryFn: ({ pageParam, signal }) => fetched<Answer>(asked(path, { ...values, cursor: pageParam }), signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.page?.next ?? undefined,
    ...lifetime(first),
  });
  const { problem, waiting } = outcome(data, error);
  const state = { waiting, problem: isFetchNextPageError ? outcome(undefined, error).problem : problem };
  return { pages: data?.pages ?? [], more: hasNextPage ? () => void fetchNextPage() : undefined, state };
};
