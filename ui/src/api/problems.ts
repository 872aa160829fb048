// Errors of the API, and parsing of its responses.

/** An error response of the API (RFC 9457). Status 0: the server could not be reached. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    reason: string,
    readonly candidates: string[] = [],
  ) {
    super(reason);
  }
}

/** Whether an error is independent of the request: the server was unreachable or failed. */
export const isAway = (error: unknown): boolean =>
  !(error instanceof Problem) || error.status === 0 || error.status >= 500;

/** Sent to the window when the session has ended. */
export const SIGNED_OUT = "whence:signed-out";

/** The body of an answer. Throws a Problem. */
export const read = async <Answer>(response: Response): Promise<Answer> => {
  if (response.ok) {
    const text = await response.text();
    return (text ? JSON.parse(text) : null) as Answer;
  }
  const body = (await response.json().catch(() => null)) as { detail?: string; candidates?: string[] } | null;
  if (response.status === 401) window.dispatchEvent(new Event(SIGNED_OUT));
  // `detail` is the reason, behind the place in the body that it is about.
  throw new Problem(response.status, body?.detail ?? response.statusText, body?.candidates ?? []);
};
