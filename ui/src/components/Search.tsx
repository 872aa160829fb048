// The search palette: type, choose, go.

import { useEffect, useId, useRef, useState } from "react";
import { apiPath, get, type Envelope, type Found } from "../api";
import { fullName, shortName, typeOf } from "../names";
import { StandingChips } from "../facts/Standing";
import { words } from "../texts";
import { WhereView } from "./location";
import { Icon, NodeGlyph } from "./elements";

const SHOWN = 30;
/** Milliseconds without a keystroke until the search is sent. */
const PAUSE = 50;

interface Props {
  onChoose: (node: string) => void;
  onClose: () => void;
  hint?: string;
}

export const Search = ({ onChoose, onClose, hint = words.search.hint }: Props) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const [kind, setKind] = useState("");
  const [chosen, setChosen] = useState(0);
  const { nodes, complete, notLabelled, failed, waiting } = useFound(text, kind);
  const [isWished, setWished] = useState(false);
  const id = useId();
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    setChosen(0);
    setWished(false);
  }, [text, kind]);
  // Enter opens the best match of the input, also if it is not loaded yet.
  useEffect(() => {
    if (!isWished || waiting) return;
    setWished(false);
    if (nodes[0]) onChoose(nodes[0].node);
  }, [isWished, waiting, nodes, onChoose]);
  useEffect(() => {
    document.getElementById(`${id}-${chosen}`)?.scrollIntoView({ block: "nearest" });
  }, [id, chosen]);
  const move = (by: number) => setChosen((now) => Math.min(Math.max(0, now + by), Math.max(0, nodes.length - 1)));
  const press = (event: React.KeyboardEvent) => {
    const action = {
      ArrowDown: () => move(1),
      ArrowUp: () => move(-1),
      Enter: () => {
        const node = nodes[chosen];
        if (waiting) setWished(true);
        else if (node) onChoose(node.node);
      },
    }[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  };
  return (
    // eslint-disable-next-line jsx-a11y-x/click-events-have-key-events, jsx-a11y-x/no-noninteractive-element-interactions -- a click beside the dialog closes it; Escape does, too
    <dialog
      ref={dialog}
      className="palette"
      aria-label={words.search.open}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <div className="palette-input">
        <Icon name="search" size={20} />
        <input
          ref={input}
          autoFocus
          value={text}
          placeholder={words.search.placeholder}
          spellCheck={false}
          autoComplete="off"
          role="combobox"
          aria-expanded
          aria-controls={`${id}-list`}
          aria-activedescendant={nodes.length ? `${id}-${chosen}` : undefined}
          aria-label={words.search.placeholder}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={press}
        />
        <button type="button" className="icon-button" onClick={onClose} aria-label={words.explorer.close}>
          <Icon name="close" />
        </button>
      </div>
      <p className="chips palette-kinds" role="group" aria-label={words.search.kinds}>
        {["", ...Object.keys(words.search.only)].map((one) => (
          <button
            key={one}
            type="button"
            className="chip chip-button"
            aria-pressed={one === kind}
            onClick={() => {
              setKind(one);
              input.current?.focus();
            }}
          >
            {words.search.only[one] ?? words.search.all}
          </button>
        ))}
      </p>
      <ul id={`${id}-list`} role="listbox" aria-label={words.search.results} className="palette-list">
        {nodes.map((one, number) => (
          // eslint-disable-next-line jsx-a11y-x/click-events-have-key-events -- the combobox has the keys of its options
          <li
            key={one.node}
            id={`${id}-${number}`}
            role="option"
            aria-selected={number === chosen}
            title={fullName(one.node)}
            className="palette-item"
            onPointerMove={() => setChosen(number)}
            onClick={() => onChoose(one.node)}
          >
            <NodeGlyph id={one.node} />
            <span className="node-link-text">
              <span className="node-link-name">
                <Marked text={shortName(one.node)} words={text} />
              </span>
              <span className="node-link-place">
                <WhereView id={one.node} drawn={(part) => <Marked text={part} words={text} />} />
              </span>
            </span>
            {!one.node.startsWith("datasetField:") && <StandingChips of={one.standings} />}
            {one.labels.map((label) => (
              <span key={label.category} className="palette-label">
                {words.labels.of(label.category, label.grade, label.assumed)}
              </span>
            ))}
            <span className="palette-kind">{words.types[typeOf(one.node)]}</span>
          </li>
        ))}
      </ul>
      <footer className="palette-foot" aria-live="polite">
        {failed
          ? `${words.search.failed}: ${failed}`
          : !text.trim()
            ? hint
            : !nodes.length
              ? waiting
                ? words.search.waiting
                : words.search.none(words.search.noneOf[kind] ?? "", text.trim())
              : notLabelled
                ? words.labels.notKnown(notLabelled)
                : complete
                  ? words.search.keys
                  : words.search.more}
      </footer>
    </dialog>
  );
};

interface Held {
  /** The searched kind and text. */
  of: string;
  nodes: Found["nodes"];
  complete: boolean;
  /** How many columns may have the searched labels, too. */
  notLabelled?: number;
  failed?: string;
}

const useFound = (text: string, kind: string): Held & { waiting: boolean } => {
  const wanted = text.trim();
  const of = wanted && `${kind} ${wanted}`;
  const [held, setHeld] = useState<Held>({ of: "", nodes: [], complete: true });
  useEffect(() => {
    if (!wanted) return setHeld({ of: "", nodes: [], complete: true });
    // Outdated searches are cancelled.
    const request = new AbortController();
    const timer = setTimeout(() => {
      get<Envelope<Found>>(apiPath("search", { q: wanted, kind, limit: SHOWN }), request.signal).then(
        ({ data, page }) =>
          setHeld({ of, nodes: data.nodes, complete: page?.next === null, notLabelled: data.not_labelled }),
        (error: Error) => {
          if (!request.signal.aborted) setHeld({ of, nodes: [], complete: true, failed: error.message });
        },
      );
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      request.abort();
    };
  }, [of, wanted, kind]);
  return { ...held, waiting: held.of !== of };
};

const Marked = ({ text, words: wanted }: { text: string; words: string }) => {
  const last = wanted
    .trim()
    .split(/[\s.]+/)
    .findLast((one) => one && text.toLowerCase().includes(one.toLowerCase()));
  if (!last) return <>{text}</>;
  const start = text.toLowerCase().indexOf(last.toLowerCase());
  return (
    <>
      {text.slice(0, start)}
      <mark>{text.slice(start, start + last.length)}</mark>
      {text.slice(start + last.length)}
    </>
  );
};
