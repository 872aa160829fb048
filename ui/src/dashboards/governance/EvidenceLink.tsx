// The signed pack that proves the lineage of a dataset, for download.

import { useState } from "react";
import { evidencePath } from "../../api";
import { Icon } from "../../components/elements";
import { Search } from "../../components/Search";
import { shortName } from "../../names";
import { words } from "../../texts";

const texts = words.governance;

export const EvidenceLink = () => {
  const [isChoosing, setChoosing] = useState(false);
  const [node, setNode] = useState<string>();
  return (
    <section className="section" id="evidence">
      <h2>{texts.evidence}</h2>
      <p className="quiet">{texts.evidenceOf}</p>
      <p className="chips">
        <button type="button" className="button" onClick={() => setChoosing(true)}>
          <Icon name="search" size={14} />
          {texts.evidencePick}
        </button>
        {node && (
          <a className="button primary" href={evidencePath(node)} download="whence-evidence.zip">
            <Icon name="save" size={14} />
            <span className="breaks">{texts.evidenceGet(shortName(node))}</span>
          </a>
        )}
      </p>
      <p className="quiet">
        {texts.evidenceVerify} <code>{texts.evidenceCommand}</code>
      </p>
      {isChoosing && (
        <Search
          hint={texts.evidenceHint}
          onClose={() => setChoosing(false)}
          onChoose={(chosen) => {
            setChoosing(false);
            setNode(chosen);
          }}
        />
      )}
    </section>
  );
};
