// What the server may refuse: done, or said above the page.

import { NoNetwork, Refused } from "./api.js";
import { byId, setText } from "./dom.js";
import { sentence } from "./messages.js";

let saidByLook = false; // of what is said now

/** Do what the server may refuse, and say so where it does. Returns whether it was done. @param {() => Promise<unknown>} act */
export async function attempt(act) {
  const error = await failure(act);
  if (error === null) setText(byId("trouble"), "");
  else say(error, "Try again once it is back.", false);
  return error === null;
}

/**
 * The same for a look that comes again and again: it takes back what an earlier look said, never why a press was refused.
 * @param {() => Promise<unknown>} look
 * @param {(error: Refused) => void} refused called after a refusal was said
 */
export async function attemptAgain(look, refused = () => {}) {
  const error = await failure(look);
  if (error !== null) say(error, "The page tries again by itself.", true);
  else if (saidByLook) setText(byId("trouble"), "");
  if (error instanceof Refused) refused(error);
  return error === null;
}

/** Raises what is neither a refusal nor the network. @param {() => Promise<unknown>} act */
async function failure(act) {
  try {
    await act();
    return null;
  } catch (error) {
    if (error instanceof NoNetwork || error instanceof Refused) return error;
    throw error;
  }
}

/** @param {NoNetwork | Refused} error @param {string} then what happens where the server cannot be reached @param {boolean} byLook */
function say(error, then, byLook) {
  setText(byId("trouble"), error instanceof Refused ? sentence(error.message) : `The server cannot be reached. ${then}`);
  saidByLook = byLook;
}
