// Somebody is signed in, and has no role yet: whom to ask, and for what.

import { useSession } from "../session";
import { words } from "../words";

export const NoRole = () => {
  const { me } = useSession();
  return (
    <div className="trouble">
      <h1>{words.session.noRoleTitle}</h1>
      <p>{words.session.noRoleWhy}</p>
      <pre tabIndex={0}>{words.session.grant(me.name)}</pre>
      <p className="quiet">{words.session.noRoleThen}</p>
    </div>
  );
};
