/** Exit code of a program that is ended because nobody reads its output any more, as a shell shows it (128 + SIGPIPE). */
const brokenPipeCode = 141;

/**
 * Listens for errors of an output. Ends the process without a word once nobody reads its output any more, as `head` does when it has its
 * lines.
 */
export function endWithReader(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(brokenPipeCode);
  throw error;
}
