// Files that somebody drops on a page or chooses, with those in folders, each named by its path.

/** @typedef {{name: string, file: File}} Dropped */

/** @param {DataTransfer} given @returns {Promise<Dropped[]>} */
export async function filesOf(given) {
  // Entries must be asked for before anything is waited for.
  const entries = [...given.items].map((item) => item.webkitGetAsEntry?.() ?? null);
  if (entries.every((entry) => entry === null)) return [...given.files].map((file) => ({ name: file.name, file }));
  const found = await Promise.all(entries.filter((entry) => entry !== null).map(filesIn));
  return found.flat();
}

/** @param {FileSystemEntry} entry @returns {Promise<Dropped[]>} */
async function filesIn(entry) {
  if (entry.isFile) {
    const file = await new Promise((done, failed) => /** @type {FileSystemFileEntry} */ (entry).file(done, failed));
    return [{ name: entry.fullPath.replace(/^\//, ""), file }];
  }
  const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
  /** @type {Dropped[]} */
  const found = [];
  // A reader gives a hundred at a time.
  for (;;) {
    /** @type {FileSystemEntry[]} */
    const part = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (part.length === 0) return found;
    for (const one of part) found.push(...(await filesIn(one)));
  }
}

/** A name for a study of these files: that of their folder, or of the table. @param {Dropped[]} files */
export function nameFor(files) {
  const folders = new Set(files.map(({ name }) => (name.includes("/") ? name.split("/")[0] : "")));
  const table = files.find(({ name }) => /\.(csv|tsv|json|jsonl|ndjson)$/i.test(name));
  const first = folders.size === 1 && !folders.has("") ? [...folders][0] : table?.name.replace(/^.*\/|\.[^.]*$/g, "");
  return (first ?? "").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 64) || "study";
}
