// What the server may refuse: done, or said above the page.

import { NoNetwork, Refused } from "./api.js";
import { byId, setText } from "./dom.js";
import { sentence } from "./messages.js";

/**
 * Do what the server may refuse, and say so where it does. Returns whether it was done.
 * @param {() => Promise<unknown>} act
 * @param {string} then what happens where the server cannot be reached
 * @param {(error: Refused) => void} refused called after a refusal was said
 */
export async function attempt(act, then = "The page tries again by itself.", refused = () => {}) {
  try {
    await act();
    setText(byId("trouble"), "");
    return true;
  } catch (error) {
    if (error instanceof NoNetwork) setText(byId("trouble"), `The server cannot be reached. ${then}`);
    else if (error instanceof Refused) {
      setText(byId("trouble"), sentence(error.message));
      refused(error);
    } else throw error;
    return false;
  }
}
