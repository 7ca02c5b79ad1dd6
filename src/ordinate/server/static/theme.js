// Light or dark: what the visitor chose, else what the owner set, else what the device prefers. Runs before the page shows.
"use strict";
{
  /** @type {any} */
  const page = globalThis;
  const root = document.documentElement;
  const preset = root.dataset.theme;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const stored = () => {
    try {
      return localStorage.getItem("ordinate:theme");
    } catch {
      return null;
    }
  };
  const apply = () => {
    const wanted = stored() ?? preset;
    root.dataset.theme = wanted === "light" || wanted === "dark" ? wanted : system.matches ? "dark" : "light";
  };
  apply();
  system.addEventListener("change", apply);
  addEventListener("storage", apply);

  // Switches, and returns the theme that is on now. A choice that the device prefers anyway is not stored, so the page
  // follows the device again.
  page.switchTheme = () => {
    const next = root.dataset.theme === "dark" ? "light" : "dark";
    const followed = preset === "auto" && next === (system.matches ? "dark" : "light");
    try {
      if (followed) localStorage.removeItem("ordinate:theme");
      else localStorage.setItem("ordinate:theme", next);
    } catch {
      // Nothing can be stored here: the choice holds until the page is left.
    }
    root.dataset.theme = next;
    return next;
  };
}
