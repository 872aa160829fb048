// An event as it was sent.

import { asked, useAnswer, type EventSaid } from "../api";
import { Awaited } from "./bits";

export const RawEvent = ({ event }: { event: string }) => {
  const told = useAnswer<{ data: EventSaid }>(asked(`events/${event}`));
  return told.answer ? (
    <pre tabIndex={0}>{JSON.stringify(told.answer.data.payload, null, 2)}</pre>
  ) : (
    <Awaited of={told} />
  );
};
