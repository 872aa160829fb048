// Owners, tags, description, certification and tier of a dataset or job, with editors for users who may change them.

import { useState, type FormEvent, type ReactNode } from "react";
import type { Facts, Tag } from "../api";
import { fieldId } from "../names";
import { Icon } from "../components/elements";
import { words } from "../texts";
import { pathOf, readFacts, reasonOf, sayOver, sayWithUndo, tellDone, type Conflict } from "./writes";

interface Props {
  node: string;
  facts: Facts;
  mayEdit: boolean;
}

const LEVELS = ["certified", "canonical"] as const;

/** Runs a write, one at a time, and shows its error. */
const useWriting = () => {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const write = async (work: () => Promise<void>): Promise<boolean> => {
    setBusy(true);
    setProblem(undefined);
    try {
      await work();
      return true;
    } catch (error) {
      setProblem(reasonOf(error));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, problem, write };
};

const Refusal = ({ problem }: { problem: string | undefined }) =>
  problem ? (
    <p className="notice-bad" role="alert">
      {problem}
    </p>
  ) : null;

const Remove = ({ label, isBusy, onClick }: { label: string; isBusy: boolean; onClick: () => void }) => (
  <button type="button" className="chip-remove" aria-label={label} title={label} disabled={isBusy} onClick={onClick}>
    <Icon name="close" size={11} />
  </button>
);

const Plus = ({ label, onClick }: { label: string; onClick: () => void }) => (
  <button type="button" className="chip chip-add" aria-label={label} title={label} onClick={onClick}>
    <Icon name="plus" size={12} />
    {words.edit.add}
  </button>
);

export const Owners = ({ node, facts, mayEdit }: Props) => {
  const [isAdding, setAdding] = useState(false);
  const { isBusy, problem, write } = useWriting();
  const put = (name: string, role: string) => ({
    method: "PUT" as const,
    path: pathOf("owners", name),
    body: role ? { role } : {},
  });
  const drop = (name: string) => ({ method: "DELETE" as const, path: pathOf("owners", name) });
  const add = async (name: string, role: string) => {
    const before = facts.owners.find((one) => one.name === name);
    const back = before ? put(name, before.role) : drop(name);
    if (await write(() => sayWithUndo(node, put(name, role), words.edit.done.addOwner(name), back))) setAdding(false);
  };
  return (
    <>
      <p className="chips">
        {facts.owners.map((owner) => (
          <span key={owner.name + owner.role} className="chip chip-edit" title={owner.role}>
            <span className="chip-text">{owner.name}</span>
            {mayEdit && (
              <Remove
                label={words.edit.removeOwner(owner.name)}
                isBusy={isBusy}
                onClick={() =>
                  void write(() =>
                    sayWithUndo(
                      node,
                      drop(owner.name),
                      words.edit.done.removeOwner(owner.name),
                      put(owner.name, owner.role),
                    ),
                  )
                }
              />
            )}
          </span>
        ))}
        {!facts.owners.length && <span className="quiet">{words.node.noOwners}</span>}
        {mayEdit && !isAdding && <Plus label={words.edit.addOwner} onClick={() => setAdding(true)} />}
      </p>
      {isAdding && (
        <Pair
          label={words.edit.addOwner}
          names={[words.edit.owner, words.edit.role]}
          hints={[words.edit.ownerHint, words.edit.roleHint]}
          isBusy={isBusy}
          onDone={(name, role) => void add(name, role)}
          onCancel={() => setAdding(false)}
        />
      )}
      <Refusal problem={problem} />
    </>
  );
};

/** The tags of a thing itself, or with `field` of one of its columns; `all`: of both, to read. */
export const TagsEditor = ({
  node,
  facts,
  mayEdit,
  field,
  label = words.edit.addTag,
}: Props & { field?: string; label?: string }) => {
  const [isAdding, setAdding] = useState(false);
  const { isBusy, problem, write } = useWriting();
  const subject = (of: string) => (of ? fieldId(node, of) : node);
  const put = (key: string, value: string) => ({
    method: "PUT" as const,
    path: pathOf("tags", key),
    body: value ? { value } : {},
  });
  const drop = (key: string) => ({ method: "DELETE" as const, path: pathOf("tags", key) });
  const shown = facts.tags.filter(
    (tag) => (field === undefined || tag.field === field) && (tag.field || !facts.certification.includes(tag.key)),
  );
  const add = async (key: string, value: string) => {
    const before = facts.tags.find((tag) => tag.key === key && tag.field === (field ?? ""));
    const back = before ? put(key, before.value) : drop(key);
    const done = words.edit.done.addTag(key);
    if (await write(() => sayWithUndo(subject(field ?? ""), put(key, value), done, back))) setAdding(false);
  };
  const remove = (tag: Tag) =>
    write(() =>
      sayWithUndo(subject(tag.field), drop(tag.key), words.edit.done.removeTag(tag.key), put(tag.key, tag.value)),
    );
  return (
    <>
      <span className="chips">
        {shown.map((tag) => (
          <span key={tag.key + tag.field} className="chip chip-tag chip-edit" title={tag.source}>
            <span className="chip-text">
              {tag.key}
              {tag.value !== "true" && `=${tag.value}`}
              {tag.field && field === undefined && ` · ${tag.field}`}
            </span>
            {mayEdit && (
              <Remove label={words.edit.removeTag(tag.key)} isBusy={isBusy} onClick={() => void remove(tag)} />
            )}
          </span>
        ))}
        {!shown.length && field === undefined && <span className="quiet">{words.node.noTags}</span>}
        {mayEdit && !isAdding && <Plus label={label} onClick={() => setAdding(true)} />}
      </span>
      {isAdding && (
        <Pair
          label={label}
          names={[words.edit.tag, words.edit.value]}
          hints={[words.edit.tagHint, words.edit.valueHint]}
          isBusy={isBusy}
          onDone={(key, value) => void add(key, value)}
          onCancel={() => setAdding(false)}
        />
      )}
      <Refusal problem={problem} />
    </>
  );
};

interface PairProps {
  label: string;
  names: readonly [string, string];
  hints: readonly [string, string];
  isBusy: boolean;
  onDone: (first: string, second: string) => void;
  onCancel: () => void;
}

/** A name and an optional second text. */
const Pair = ({ label, names, hints, isBusy, onDone, onCancel }: PairProps) => {
  const [first, setFirst] = useState("");
  const [second, setSecond] = useState("");
  const done = (event: FormEvent) => {
    event.preventDefault();
    if (first.trim()) onDone(first.trim(), second.trim());
  };
  return (
    // eslint-disable-next-line jsx-a11y-x/no-noninteractive-element-interactions -- Escape cancels from any field
    <form
      className="pair"
      aria-label={label}
      onSubmit={done}
      onKeyDown={(event) => event.key === "Escape" && onCancel()}
    >
      <input
        className="input"
        autoFocus
        required
        value={first}
        placeholder={hints[0]}
        aria-label={names[0]}
        onChange={(event) => setFirst(event.target.value)}
      />
      <input
        className="input"
        value={second}
        placeholder={hints[1]}
        aria-label={names[1]}
        onChange={(event) => setSecond(event.target.value)}
      />
      <Buttons isBusy={isBusy} save={words.edit.add} onCancel={onCancel} />
    </form>
  );
};

const Buttons = ({ isBusy, save, onCancel }: { isBusy: boolean; save: string; onCancel: () => void }) => (
  <span className="buttons">
    <button type="submit" className="button primary small" disabled={isBusy}>
      {isBusy ? words.edit.saving : save}
    </button>
    <button type="button" className="button small" onClick={onCancel}>
      {words.edit.cancel}
    </button>
  </span>
);

interface Writing {
  text: string;
  value: string | null;
  etag: string | null;
}

export const Description = ({ node, facts, mayEdit }: Props) => {
  const [writing, setWriting] = useState<Writing>();
  const [conflict, setConflict] = useState<Conflict<string | null>>();
  const { isBusy, problem, write } = useWriting();
  const begin = () =>
    write(async () => {
      const { answer, etag } = await readFacts(node);
      const value = answer.data.description;
      setWriting({ text: value ?? "", value, etag });
    });
  const put = (text: string | null) =>
    text
      ? { method: "PUT" as const, path: "description", body: { description: text } }
      : { method: "DELETE" as const, path: "description" };
  const close = () => {
    setWriting(undefined);
    setConflict(undefined);
  };
  const save = (over: { value: string | null; etag: string | null }) =>
    write(async () => {
      if (!writing) return;
      const found = await sayOver(node, put(writing.text.trim()), over, (now) => now.description);
      if (found) return setConflict(found);
      close();
      tellDone(node, words.edit.done.description, put(over.value));
    });
  if (!writing)
    return (
      <>
        <p className={facts.description ? "described" : "quiet"}>{facts.description ?? words.node.noDescription}</p>
        {mayEdit && (
          <button
            type="button"
            className="link-button"
            aria-label={words.edit.editDescription}
            disabled={isBusy}
            onClick={() => void begin()}
          >
            <Icon name="edit" size={14} />
            {words.edit.edit}
          </button>
        )}
        <Refusal problem={problem} />
      </>
    );
  return (
    <form
      className="writing"
      onSubmit={(event) => {
        event.preventDefault();
        void save(conflict ?? writing);
      }}
    >
      <textarea
        className="input"
        autoFocus
        rows={4}
        value={writing.text}
        aria-label={words.edit.description}
        onChange={(event) => setWriting({ ...writing, text: event.target.value })}
      />
      {conflict ? (
        <div className="conflict" role="alert">
          <p>{words.edit.conflict}</p>
          <blockquote>{conflict.value ?? words.edit.conflictEmpty}</blockquote>
          <span className="buttons">
            <button type="submit" className="button small" disabled={isBusy}>
              {words.edit.keepMine}
            </button>
            <button type="button" className="button primary small" onClick={close}>
              {words.edit.takeTheirs}
            </button>
          </span>
        </div>
      ) : (
        <Buttons isBusy={isBusy} save={words.edit.save} onCancel={close} />
      )}
      <Refusal problem={problem} />
    </form>
  );
};

/** Certification and tier. */
export const Trust = ({ node, facts, mayEdit }: Props) => {
  const { isBusy, problem, write } = useWriting();
  const certify = (level: string, on: boolean) => ({
    method: on ? ("PUT" as const) : ("DELETE" as const),
    path: pathOf("certification", level),
  });
  const tier = (to: number | null) =>
    to === null
      ? { method: "DELETE" as const, path: "tier" }
      : { method: "PUT" as const, path: "tier", body: { tier: to } };
  const toggle = (level: string) => {
    const on = !facts.certification.includes(level);
    const done = on ? words.edit.done.certify(level) : words.edit.done.uncertify(level);
    return write(() => sayWithUndo(node, certify(level, on), done, certify(level, !on)));
  };
  if (!mayEdit) return <TrustRead facts={facts} />;
  return (
    <>
      <p className="chips" role="group" aria-label={words.edit.trust}>
        {LEVELS.map((level) => (
          <button
            key={level}
            type="button"
            className="chip chip-button chip-level"
            aria-pressed={facts.certification.includes(level)}
            disabled={isBusy}
            onClick={() => void toggle(level)}
          >
            {facts.certification.includes(level) && <Icon name="shield" size={12} />}
            {words.node[level]}
          </button>
        ))}
      </p>
      <label className="tier">
        {words.edit.tier}
        <select
          className="input"
          value={facts.tier ?? ""}
          disabled={isBusy}
          onChange={(event) => {
            const to = event.target.value ? Number(event.target.value) : null;
            void write(() => sayWithUndo(node, tier(to), words.edit.done.tier(to), tier(facts.tier)));
          }}
        >
          <option value="">{words.edit.noTier}</option>
          {words.edit.tiers.map((name, place) => (
            <option key={name} value={place + 1}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <Refusal problem={problem} />
    </>
  );
};

const TrustRead = ({ facts }: { facts: Facts }): ReactNode =>
  facts.certification.length || facts.tier !== null ? (
    <p className="chips">
      {facts.certification.map((level) => (
        <span key={level} className="chip chip-good">
          {level}
        </span>
      ))}
      {facts.tier !== null && <span className="chip">{words.node.tier(facts.tier)}</span>}
    </p>
  ) : (
    <p className="quiet">{words.edit.noCertification}</p>
  );
