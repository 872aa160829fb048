// All texts of the UI, a file for each topic, so that they can be translated.

import { admin } from "./admin";
import { changes } from "./changes";
import { boards } from "./dashboards";
import { edit } from "./editing";
import { explorer, image, keys, list } from "./explorer";
import { gate } from "./gate";
import { general } from "./general";
import { governance } from "./governance/governance";
import { home } from "./home";
import { incidents } from "./operations/incidents";
import { labels } from "./labels";
import { lenses } from "./lenses";
import { contract, node, runs } from "./nodes";
import { evidence, impact, time } from "./panels";
import { roles, session } from "./session";
import { slos } from "./operations/slos";
import { standing } from "./governance/standing";

export const words = {
  ...general,
  home,
  explorer,
  list,
  image,
  keys,
  evidence,
  impact,
  time,
  labels,
  lenses,
  node,
  contract,
  runs,
  session,
  roles,
  edit,
  admin,
  boards,
  governance,
  gate,
  changes,
  slos,
  standing,
  incidents,
};
