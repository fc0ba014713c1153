/** Exit code of a program that ends because its output has no reader any more, as a shell shows it (128 + SIGPIPE). */
const brokenPipeCode = 141;

/** Handles errors of an output. Ends the process silently if nobody reads the output any more, such as `head` after its last line. */
export function exitOnBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(brokenPipeCode);
  throw error;
}
