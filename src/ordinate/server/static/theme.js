// Light or dark: what the visitor chose, else what the owner set, else what the device has. Runs before the page shows.
"use strict";
{
  const root = document.documentElement;
  const preset = root.dataset.theme;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const kept = () => {
    try {
      return localStorage.getItem("ordinate:theme");
    } catch {
      return null;
    }
  };
  const apply = () => {
    const wanted = kept() ?? preset;
    root.dataset.theme = wanted === "light" || wanted === "dark" ? wanted : system.matches ? "dark" : "light";
  };
  apply();
  system.addEventListener("change", apply);
  addEventListener("storage", apply);

  // Switches, and returns the theme that is on now. What the device has anyway is not kept, so that it is followed.
  globalThis.switchTheme = () => {
    const next = root.dataset.theme === "dark" ? "light" : "dark";
    const followed = preset === "auto" && next === (system.matches ? "dark" : "light");
    try {
      if (followed) localStorage.removeItem("ordinate:theme");
      else localStorage.setItem("ordinate:theme", next);
    } catch {
      // Nothing can be kept here: it holds until the page is left.
    }
    root.dataset.theme = next;
    return next;
  };
}
