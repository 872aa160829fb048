// The tags of what is on the screen, on their boxes.

import { createContext, useContext, useRef, type ReactNode } from "react";
import { asked, useAnswers, type Facts } from "../api";

const AT_ONCE = 40;
const SHOWN = 2;

const TagsContext = createContext<ReadonlyMap<string, Facts>>(new Map());

const addresses = (nodes: readonly string[]): string[] =>
  Array.from({ length: Math.ceil(nodes.length / AT_ONCE) }, (_, part) => {
    const query = new URLSearchParams(nodes.slice(part * AT_ONCE, (part + 1) * AT_ONCE).map((node) => ["node", node]));
    return `${asked("facts")}?${query}`;
  });

/** Facts hold now, so of another time none are shown. */
export const Tagged = ({ nodes, children }: { nodes: readonly string[]; children: ReactNode }) => {
  const answers = useAnswers<{ data: Facts[] }>(addresses(nodes));
  const said = answers.flatMap((one) => one.answer ?? []);
  const held = useRef({ said, facts: new Map<string, Facts>() });
  // While some of a larger picture is waited for, what was said last stays.
  const isNew = said.length !== held.current.said.length || said.some((one, place) => one !== held.current.said[place]);
  if (isNew && !answers.some((one) => one.waiting))
    held.current = { said, facts: new Map(said.flatMap((one) => one.data.map((facts) => [facts.node, facts]))) };
  return <TagsContext value={held.current.facts}>{children}</TagsContext>;
};

/** What is said of a box, on its edge: whether somebody vouches for it, and its tags. */
export const BoxTags = ({ id }: { id: string }) => {
  const facts = useContext(TagsContext).get(id);
  if (!facts) return null;
  const keys = [...new Set(facts.tags.map((tag) => tag.key))];
  const good = keys.filter((key) => facts.certification.includes(key));
  const all = [...good, ...keys.filter((key) => !good.includes(key))];
  if (!all.length) return null;
  return (
    <p className="box-tags" title={all.join(", ")}>
      {all.slice(0, SHOWN).map((key) => (
        <span key={key} className={good.includes(key) ? "chip chip-good" : "chip chip-tag"}>
          {key}
        </span>
      ))}
      {all.length > SHOWN && <span className="chip">+{all.length - SHOWN}</span>}
    </p>
  );
};
