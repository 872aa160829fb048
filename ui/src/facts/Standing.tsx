// Why a dataset may be relied on, and the warning that it, or what it reads, is not the one to prefer.

import { apiPath, useAnswer, type NodeStanding, type One } from "../api";
import { Icon, NodeLink } from "../components/elements";
import { words } from "../texts";

const useStanding = (node: string): NodeStanding | undefined =>
  useAnswer<One<NodeStanding>>(apiPath(`nodes/${encodeURIComponent(node)}/standing`)).answer?.data;

/** Chips of what a dataset is: certified, canonical. */
export const StandingChips = ({ of }: { of: readonly string[] }) =>
  of.map((one) => (
    <span key={one} className="chip chip-good">
      <Icon name="check" size={12} />
      {words.standing.names[one] ?? one}
    </span>
  ));

/** The same for a page, loaded with it. */
export const Standing = ({ node }: { node: string }) => <StandingChips of={useStanding(node)?.standings ?? []} />;

/** A warning that others are preferred to a dataset, or to what it reads; nothing if none are. */
export const OtherTruth = ({ node }: { node: string }) => {
  const twins = useStanding(node)?.twins;
  if (!twins) return null;
  const isOther = twins.preferred.length > 0 && !twins.preferred.includes(node);
  return (
    <>
      {twins.reads.map((one) => (
        <Warned key={one.twin} text={words.standing.reads} node={one.twin} preferred={one.preferred} />
      ))}
      {isOther && <Warned text={words.standing.isOther} preferred={twins.preferred} />}
      {!twins.preferred.length && twins.others.length > 0 && (
        <Warned text={words.standing.undecided} preferred={twins.others} />
      )}
    </>
  );
};

interface WarnedProps {
  text: string;
  /** What is read. */
  node?: string;
  /** What to read instead; empty if the viewer may not see it. */
  preferred: readonly string[];
}

const Warned = ({ text, node, preferred }: WarnedProps) => (
  <div className="other-truth" role="note">
    <Icon name="change" size={16} />
    <div>
      <p>
        <strong>{text}</strong>
      </p>
      {node && <NodeLink id={node} />}
      {node && <p className="quiet">{preferred.length ? words.standing.instead : words.standing.hiddenOnes}</p>}
      {preferred.map((one) => (
        <NodeLink key={one} id={one} />
      ))}
    </div>
  </div>
);
