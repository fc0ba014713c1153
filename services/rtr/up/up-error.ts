/** Why a cluster cannot be started or kept up. The message is fit to be shown as it is. */
export class UpError extends Error {
  override name = 'UpError';
}

/**
 * What to tell when something failed: for the file system's refusal of what a cluster keeps in its folder a sentence that
 * names it, else the failure as it is.
 * @param path what was used, for the failures that do not name it themselves
 */
export function folderError(error: unknown, folder: string, path?: string): unknown {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return error;
  const named = 'path' in error && typeof error.path === 'string' ? error.path : path;
  if (!named?.startsWith(folder)) return error;
  return new UpError(
    `${named} cannot be used (${String(error.code)}): ${folder} must be a folder that you can write to, with all that is in it.`,
    { cause: error },
  );
}
