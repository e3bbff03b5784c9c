// The files of a drop or a paste. A dropped folder stands for the profiles in it, so that the
// profiler's log folder (`plugins/profile/<run>/`) can be dropped as it is.

const PROFILE_NAME = /\.(pb|pb\.gz|zip|tar|tgz|tar\.gz)$/i;
// Other files that a folder may hold, as a workload of rocprof-compute does: beside captures, such files
// are by-products of them.
const EXPORT_NAME = /\.(csv|csv\.gz|json|json\.gz|jsonl|ncu-repz?|sqlite|sqlite\.gz|db|db\.gz)$/i;

/** @type {WeakMap<File, string>} */
const paths = new WeakMap();

/**
 * True while files, not text or links, are dragged.
 * @param {DataTransfer | null} transfer
 * @returns {transfer is DataTransfer}
 */
export function carriesFiles(transfer) {
  return transfer !== null && Array.from(transfer.types).includes("Files");
}

/**
 * Must be called inside the event: the browser empties `transfer` when the handler returns.
 * @param {DataTransfer} transfer
 * @returns {Promise<File[]>} in order of name, so that hosts are in order
 */
export async function droppedFiles(transfer) {
  const plain = Array.from(transfer.files);
  const entries = Array.from(transfer.items, (item) => item.webkitGetAsEntry?.() ?? null);
  const folders = entries.flatMap((entry) => (entry && isFolder(entry) ? [entry] : []));
  if (folders.length === 0) return plain;
  // A folder also appears among the files, as one that cannot be read.
  const names = new Set(folders.map((folder) => folder.name));
  const found = await Promise.all(folders.map(profilesBelow));
  return [...plain.filter((file) => !names.has(file.name)), ...found.flat()];
}

/**
 * Takes files that are dropped anywhere on the page.
 * @param {object} options
 * @param {() => boolean} options.isBusy no drop is taken then
 * @param {(isOver: boolean) => void} options.onOver files are dragged over the page, or no more
 * @param {(transfer: DataTransfer) => void} options.onDrop
 */
export function wireFileDrop({ isBusy, onOver, onDrop }) {
  let depth = 0; // dragenter and dragleave come in pairs, for every element crossed
  /** @param {number} to */
  const move = (to) => {
    depth = Math.max(0, to);
    onOver(depth > 0);
  };
  /** @param {"dragenter" | "dragleave" | "dragover" | "drop"} type @param {(transfer: DataTransfer) => void} handler */
  const listen = (type, handler) =>
    document.addEventListener(type, (event) => {
      const transfer = event.dataTransfer;
      if (!carriesFiles(transfer)) return;
      event.preventDefault(); // also while busy: the browser would open the file and leave the page
      if (!isBusy()) handler(transfer);
      else transfer.dropEffect = "none";
    });
  listen("dragenter", () => move(depth + 1));
  listen("dragleave", () => move(depth - 1));
  listen("dragover", (transfer) => {
    transfer.dropEffect = "copy";
  });
  listen("drop", (transfer) => {
    move(0);
    onDrop(transfer);
  });
}

/** @param {FileSystemEntry} entry @returns {entry is FileSystemDirectoryEntry} */
const isFolder = (entry) => entry.isDirectory;

/** @param {FileSystemEntry} entry @returns {entry is FileSystemFileEntry} */
const isFile = (entry) => !entry.isDirectory;

/** @param {FileSystemDirectoryEntry} folder */
async function profilesBelow(folder) {
  const entries = await filesBelow(folder);
  const profiles = entries.filter((entry) => PROFILE_NAME.test(entry.name));
  const chosen =
    profiles.length > 0 ? profiles : entries.filter((entry) => EXPORT_NAME.test(entry.name));
  return Promise.all(chosen.map(fileOf));
}

/** @param {FileSystemFileEntry} entry @returns {Promise<File>} */
const fileOf = (entry) =>
  new Promise((resolve, reject) =>
    entry.file((file) => {
      paths.set(file, entry.fullPath);
      resolve(file);
    }, reject),
  );

/**
 * The folder that a file was in, as far as the browser tells: the profile may be called after it.
 * @param {File} file
 */
export const folderOf = (file) =>
  (paths.get(file) ?? file.webkitRelativePath ?? "").replace(/[^/]*$/, "");

/** @param {FileSystemDirectoryEntry} folder @returns {Promise<FileSystemFileEntry[]>} */
async function filesBelow(folder) {
  const files = [];
  for (const entry of await children(folder)) {
    if (isFolder(entry)) files.push(...(await filesBelow(entry)));
    else if (isFile(entry)) files.push(entry);
  }
  return files;
}

/**
 * A reader gives a folder's entries in portions, then an empty one.
 * @param {FileSystemDirectoryEntry} folder
 */
async function children(folder) {
  const reader = folder.createReader();
  /** @type {FileSystemEntry[]} */
  const all = [];
  for (;;) {
    const portion = await portionOf(reader);
    if (portion.length === 0) return all.sort((a, b) => (a.name < b.name ? -1 : 1));
    all.push(...portion);
  }
}

/** @param {FileSystemDirectoryReader} reader @returns {Promise<FileSystemEntry[]>} */
const portionOf = (reader) => new Promise((resolve, reject) => reader.readEntries(resolve, reject));
