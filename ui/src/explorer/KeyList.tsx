// The keys of the explorer, as `?` shows them.

import { Icon } from "../components/elements";
import { words } from "../texts";

export const KeyList = ({ onClose }: { onClose: () => void }) => (
  <div className="keys" role="dialog" aria-label={words.explorer.keys}>
    <header className="panel-head">
      <h2>{words.explorer.keys}</h2>
      <button type="button" className="icon-button" aria-label={words.explorer.close} onClick={onClose}>
        <Icon name="close" />
      </button>
    </header>
    <dl>
      {words.keys.map(([key, what]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  </div>
);
