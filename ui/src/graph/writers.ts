// The writer of each box, also where its upstream hop is closed. Pure; imports only types.

import type { Box, Picture } from "./model";

/** The last run of the jobs that write a dataset. */
export interface Written {
  latest: { run: string; job: string; state: string; time: string } | null;
}

const writtenBy = (box: Box, known: Written | undefined): Box => {
  const latest = known?.latest;
  if (box.writer || !latest || box.kind !== "dataset") return box;
  const { run, job, state, time } = latest;
  return {
    ...box,
    writer: job,
    run: { run, job, state, started_at: null, ended_at: time, last_seen: time, said_at: time },
  };
};

/** The picture with a writer for each dataset that has one. Lines of the picture take precedence. */
export const withWriters = (picture: Picture, known: Iterable<readonly [string, Written]>): Picture => {
  const by = new Map(known);
  return { ...picture, boxes: picture.boxes.map((box) => writtenBy(box, by.get(box.id))) };
};
