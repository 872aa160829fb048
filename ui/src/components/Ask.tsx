// A dialog for one action, and its fields.

import { useEffect, useId, useRef, useState, type ReactNode } from "react";
import { reasonOf } from "../facts/writes";
import { Icon } from "./elements";
import { words } from "../texts";

interface Props {
  title: string;
  act: string;
  onAct: () => Promise<void>;
  onClose: () => void;
  isDangerous?: boolean;
  /** There is nothing to cancel. */
  isOnlyWay?: boolean;
  children: ReactNode;
}

/** A dialog for one action; on a refusal it shows the reason and remains open. */
export const Ask = ({ title, act, onAct, onClose, isDangerous = false, isOnlyWay = false, children }: Props) => {
  const dialog = useRef<HTMLDialogElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const id = useId();
  useEffect(() => dialog.current?.showModal(), []);
  const run = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      await onAct();
    } catch (error) {
      setProblem(reasonOf(error));
      setBusy(false);
    }
  };
  return (
    <dialog ref={dialog} className="palette ask" aria-labelledby={id} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <header className="panel-head">
          <h2 id={id}>{title}</h2>
          <button type="button" className="icon-button" aria-label={words.explorer.close} onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        <div className="ask-body">{children}</div>
        {problem && (
          <p className="notice-bad" role="alert">
            {problem}
          </p>
        )}
        <footer className="ask-foot">
          {!isOnlyWay && (
            <button type="button" className="button" onClick={onClose}>
              {words.edit.cancel}
            </button>
          )}
          <button type="submit" className={isDangerous ? "button danger" : "button primary"} disabled={isBusy}>
            {act}
          </button>
        </footer>
      </form>
    </dialog>
  );
};

export const Field = ({ label, children }: { label: string; children: ReactNode }) => (
  <label className="field">
    <span>{label}</span>
    {children}
  </label>
);
