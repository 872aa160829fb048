// The jobs that are named after one without lineage: those of a script, a DAG or a notebook.

import { apiPath, useAnswer, type Envelope, type Found } from "../api";
import { lineageAddress } from "../address";
import { parseName } from "../names";
import { words } from "../texts";
import { Go } from "./elements";

/** How many jobs to look at, and how many of them to name. */
const LOOKED_AT = 50;
const SHOWN = 3;

const isBelow = (one: string, whole: string): boolean => {
  const [part, job] = [parseName(one), parseName(whole)];
  return part.namespace === job.namespace && [".", "#"].some((sign) => part.name.startsWith(job.name + sign));
};

export const JobsBelow = ({ job }: { job: string }) => {
  const address = apiPath("search", { q: parseName(job).name, kind: "job", limit: LOOKED_AT });
  const { answer } = useAnswer<Envelope<Found>>(address);
  const below = (answer?.data.nodes ?? []).map((one) => one.node).filter((one) => isBelow(one, job));
  if (!below.length) return null;
  return (
    <span className="warn jobs-below">
      {words.node.below}{" "}
      {below.slice(0, SHOWN).map((one, at) => (
        <span key={one}>
          {at > 0 && ", "}
          <Go to={lineageAddress(one)}>{parseName(one).name}</Go>
        </span>
      ))}
      {below.length > SHOWN ? ", …" : "."} {words.node.askBelow}
    </span>
  );
};
