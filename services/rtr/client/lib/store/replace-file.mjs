import { renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Replaces a file atomically, so that no reader ever sees a part of it.
 * @param {string} path
 * @param {string} text
 * @param {number} [mode] permissions of the file; default: the usual permissions of new files
 */
export function replaceFile(path, text, mode) {
  const temporaryPath = `${path}.${process.pid}.${Date.now()}`;
  try {
    writeFileSync(temporaryPath, text, { flag: 'wx', flush: true, ...(mode !== undefined && { mode }) });
    renameSync(temporaryPath, path);
  } catch (error) {
    rmSync(temporaryPath, { force: true });
    throw error;
  }
}
