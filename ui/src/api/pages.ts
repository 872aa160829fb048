// Paginated lists.

import { useInfiniteQuery } from "@tanstack/react-query";
import { apiPath, type Values } from "./addresses";
import { fetched, lifetime, outcome, type Answered } from "./queries";

interface Paged {
  page: { next: string | null } | null;
}

export interface Pages<Answer> {
  pages: readonly Answer[];
  /** Loads the next page, if there is one. */
  more?: () => void;
  state: Answered<unknown>;
}

/** The loaded pages of a list. A refresh reloads the same number. */
export const usePages = <Answer extends Paged>(path: string, values: Values): Pages<Answer> => {
  const first = apiPath(path, values);
  const { data, error, hasNextPage, fetchNextPage, isFetchNextPageError } = useInfiniteQuery({
    queryKey: [first, "pages"],
    queryFn: ({ pageParam, signal }) => fetched<Answer>(apiPath(path, { ...values, cursor: pageParam }), signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.page?.next ?? undefined,
    ...lifetime(first),
  });
  const { problem, waiting } = outcome(data, error);
  const state = { waiting, problem: isFetchNextPageError ? outcome(undefined, error).problem : problem };
  return { pages: data?.pages ?? [], more: hasNextPage ? () => void fetchNextPage() : undefined, state };
};
