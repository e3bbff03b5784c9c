// Uploads that the page refuses before it sends a byte. Pure.

import { bytes, count } from "../text/format.js";
import { Problem } from "../text/problem.js";

/**
 * Refuses files before a byte is sent, where that is possible.
 * @param {readonly { name: string, size: number }[]} files
 * @param {{ maxBytes: number, maxFiles: number }} limits
 * @returns {Problem | null}
 */
export function refusal(files, { maxBytes, maxFiles }) {
  if (files.length > maxFiles) {
    return new Problem(`${count(files.length)} files are more than one profile may have.`, {
      remedy: `This server takes up to ${count(maxFiles)} files at once: one per host. Drop the hosts of one run only.`,
      code: "upload-rejected",
    });
  }
  const total = totalBytes(files);
  if (total > maxBytes) {
    return new Problem(`${bytes(total)} is more than this server takes.`, {
      remedy: `The limit is ${bytes(maxBytes)}. Compress the files with gzip, or capture fewer steps.`,
      code: "upload-too-large",
    });
  }
  const empty = files.find((file) => file.size === 0);
  if (empty) {
    return new Problem(`${empty.name} is empty.`, {
      remedy:
        "Capture or export the profile again; the profiler writes the file when the capture ends.",
      code: "upload-rejected",
    });
  }
  return null;
}

/** @param {readonly { size: number }[]} files */
export const totalBytes = (files) => files.reduce((total, file) => total + file.size, 0);
