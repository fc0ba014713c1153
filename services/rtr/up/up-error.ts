/** Thrown when a cluster cannot start or keep running. The message is written for the user. */
export class UpError extends Error {
  override name = 'UpError';
}

/**
 * Turns a file system error about the cluster's folder into an UpError that names the path; returns other errors unchanged.
 * @param path the path that was used, in case the error does not name it
 */
export function toFolderError(error: unknown, folder: string, path?: string): unknown {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return error;
  const namedPath = 'path' in error && typeof error.path === 'string' ? error.path : path;
  if (!namedPath?.startsWith(folder)) return error;
  return new UpError(
    `${namedPath} cannot be used (${String(error.code)}): ${folder} and everything in it must be writable.`,
    { cause: error },
  );
}
