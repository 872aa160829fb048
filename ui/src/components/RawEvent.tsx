// An event as it was sent.

import { apiPath, useAnswer, type ReceivedEvent } from "../api";
import { Awaited } from "./elements";

export const RawEvent = ({ event }: { event: string }) => {
  const query = useAnswer<{ data: ReceivedEvent }>(apiPath(`events/${event}`));
  return query.answer ? (
    <pre tabIndex={0}>{JSON.stringify(query.answer.data.payload, null, 2)}</pre>
  ) : (
    <Awaited of={query} />
  );
};
