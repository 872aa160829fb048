// Tags and certifications as badges on the boxes.

import { createContext, useContext, useRef, type ReactNode } from "react";
import { apiPath, useAnswers, type Facts } from "../api";

const AT_ONCE = 40;
const SHOWN = 2;

const TagsContext = createContext<ReadonlyMap<string, Facts>>(new Map());

const addresses = (nodes: readonly string[]): string[] =>
  Array.from({ length: Math.ceil(nodes.length / AT_ONCE) }, (_, part) => {
    const query = new URLSearchParams(nodes.slice(part * AT_ONCE, (part + 1) * AT_ONCE).map((node) => ["node", node]));
    return `${apiPath("facts")}?${query}`;
  });

/** Facts are current, so none are shown for a past time. */
export const Tagged = ({ nodes, children }: { nodes: readonly string[]; children: ReactNode }) => {
  const answers = useAnswers<{ data: Facts[] }>(addresses(nodes));
  const answered = answers.flatMap((one) => one.answer ?? []);
  const held = useRef({ answered, facts: new Map<string, Facts>() });
  // The previous facts are kept while those of a larger picture are loaded.
  const isNew =
    answered.length !== held.current.answered.length ||
    answered.some((one, place) => one !== held.current.answered[place]);
  if (isNew && !answers.some((one) => one.waiting))
    held.current = {
      answered,
      facts: new Map(answered.flatMap((one) => one.data.map((facts) => [facts.node, facts]))),
    };
  return <TagsContext value={held.current.facts}>{children}</TagsContext>;
};

/** The certification and tags of a box, on its border. */
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
