// A table of a list of gates.

import type { ReactNode } from "react";

interface TableProps {
  heads: readonly string[];
  children: ReactNode;
}

export const Table = ({ heads, children }: TableProps) => (
  <table className="table plain stacks">
    <thead>
      <tr>
        {heads.map((one) => (
          <th key={one} scope="col">
            {one}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>{children}</tbody>
  </table>
);
