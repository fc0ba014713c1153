import { renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Replaces a file as a whole, so that no reader ever sees a part of it.
 * @param {string} path
 * @param {string} text
 * @param {number} [mode] mode of the file; default: the usual mode of new files
 */
export function replaceFile(path, text, mode) {
  const unfinished = `${path}.${process.pid}.${Date.now()}`;
  try {
    writeFileSync(unfinished, text, { flag: 'wx', flush: true, ...(mode !== undefined && { mode }) });
    renameSync(unfinished, path);
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}
