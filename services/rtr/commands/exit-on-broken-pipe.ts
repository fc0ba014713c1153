/** Exit code that a shell reports for a program that SIGPIPE ended (128 + 13). */
const brokenPipeCode = 141;

/** Ends the process silently if the reader of its output has gone, as `head` has after its last line. Throws any other error. */
export function exitOnBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(brokenPipeCode);
  throw error;
}
