// The signed pack that proves the lineage of a dataset, for download.

import { useState } from "react";
import { apiPath, evidencePath, useAnswer, type EvidenceKey, type One } from "../../api";
import { Icon } from "../../components/elements";
import { Search } from "../../components/Search";
import { shortName } from "../../names";
import { words } from "../../texts";

const texts = words.governance;

export const EvidenceLink = () => {
  const [isChoosing, setChoosing] = useState(false);
  const [node, setNode] = useState<string>();
  const keys = apiPath("evidence/keys", {});
  const published = useAnswer<One<EvidenceKey[]>>(keys).answer?.data;
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
      {published && !published.some((one) => one.retired_at === null) && (
        <p className="note">
          {texts.evidenceUnsigned} <code>{texts.evidenceCreate}</code>
        </p>
      )}
      <p className="quiet">
        {texts.evidenceVerify} <code className="breaks">{texts.evidenceCommand}</code>
      </p>
      {published && published.length > 0 && (
        <p>
          <a className="link-button" href={keys}>
            {texts.evidenceKeys}
          </a>
        </p>
      )}
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
