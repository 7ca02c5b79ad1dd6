// On a page that opens nothing: links to the studies that are open in this browser.

import { root } from "./api.js";
import { byId, make } from "./dom.js";

/** @typedef {{study: string, role: "owner" | "viewer" | "annotator"}} Study */

const response = await fetch(new URL("api/v1/studies", root), { credentials: "same-origin" });
if (response.ok) {
  /** @type {{studies: Study[]}} */
  const { studies } = await response.json();
  byId("open-list").replaceChildren(
    ...studies.map(({ study, role }) =>
      make(
        "li",
        {},
        `${study}: `,
        ...(role === "annotator" ? [] : [make("a", { href: new URL(`owner/${study}`, root).href }, "results")]),
        role === "owner" ? " · " : "",
        ...(role === "viewer" ? [] : [make("a", { href: new URL(`judge/${study}`, root).href }, "judge")]),
      ),
    ),
  );
  byId("open-studies").hidden = studies.length === 0;
}
