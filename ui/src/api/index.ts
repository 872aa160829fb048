// The API client: paths, queries, types.

export { apiPath, entryPath, evidencePath } from "./addresses";
export { usePages, type Pages } from "./pages";
export { Problem, read, SIGNED_OUT } from "./problems";
export {
  client,
  forget,
  get,
  identity,
  refresh,
  settledAnswers,
  useAnswer,
  useAnswers,
  type Answered,
} from "./queries";
export type * from "./types";
