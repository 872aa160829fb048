// The addresses of verdicts, in the UI and in the API.

import { apiPath } from "../api";
import { pageAddress } from "../address";

export const verdictAddress = (repository: string, commit: string): string =>
  pageAddress("verdict", { repository, commit });

export const verdictPath = (repository: string, commit: string): string =>
  `gate/verdicts/${encodeURIComponent(repository)}/${encodeURIComponent(commit)}`;

export const waiverPath = (repository: string, change: string): string =>
  apiPath(`gate/waivers/${encodeURIComponent(repository)}/${encodeURIComponent(change)}`);
