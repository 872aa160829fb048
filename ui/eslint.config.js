// Rules of the UI's sources: types, hooks, accessibility, no ring of imports.

import js from "@eslint/js";
import { createNodeResolver, importX } from "eslint-plugin-import-x";
import jsxA11y from "eslint-plugin-jsx-a11y-x";
import reactHooks from "eslint-plugin-react-hooks";
import { defineConfig, globalIgnores } from "eslint/config";
import ts from "typescript-eslint";

// What scrolls takes the focus, so that it can be scrolled with the keyboard (WCAG 2.1.1; axe checks it).
const SCROLLED = { tags: ["pre", "div", "code", "section", "main"], roles: ["tabpanel", "region"] };

export default defineConfig(
  globalIgnores(["node_modules", "src/api/schema.d.ts", "eslint.config.js", "vite.config.mts"]),
  { linterOptions: { reportUnusedDisableDirectives: "error" } },
  js.configs.recommended,
  ts.configs.recommendedTypeChecked,
  jsxA11y.configs.recommended,
  {
    plugins: { "react-hooks": reactHooks, "import-x": importX },
    settings: {
      "import-x/extensions": [".ts", ".tsx"],
      "import-x/parsers": { "@typescript-eslint/parser": [".ts", ".tsx"] },
      "import-x/resolver-next": [createNodeResolver({ extensions: [".ts", ".tsx", ".js"] })],
    },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      "import-x/no-cycle": ["error", { ignoreExternal: true }],
      // The plugin's other rules are for React's compiler, which does not build this UI.
      "react-hooks/rules-of-hooks": "error",
      "react-hooks/exhaustive-deps": "error",
      // A dialog, and a form that a button opens, give the focus to their first field (ARIA: dialog pattern).
      "jsx-a11y-x/no-autofocus": "off",
      "jsx-a11y-x/no-noninteractive-tabindex": ["error", SCROLLED],
    },
  },
);
