// All styles but those of the dashboards, in the order in which they override each other.

import "./tokens.css";
import "./components/shell.css";
import "./components/controls.css";
import "./components/search.css";
import "./components/lists.css";
import "./components/names.css";
import "./components/charts.css";
import "./pages.css";
import "./standing.css";
import "./explorer/page.css";
import "./explorer/lenses.css";
import "./explorer/graph.css";
import "./explorer/boxes.css";
import "./explorer/panels.css";
import "./explorer/list.css";
import "./explorer/narrow.css";
import "./explorer/labels.css";
import "./access/sign_in.css";
import "./access/editing.css";
import "./access/admin.css";
