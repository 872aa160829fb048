// For signed-in users without a role: whom to ask for one.

import { useSession } from "../session";
import { words } from "../texts";

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
