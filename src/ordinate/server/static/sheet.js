// The sheet of links: its button prints it.

import { byId } from "./dom.js";

byId("print").addEventListener("click", () => print());
