import type { Child } from './child.ts';

const keptCharacters = 4_000;

/**
 * Reads a program's outputs for as long as it runs, so that it never blocks on a full pipe, and keeps the end of them:
 * the returned function gives the last 20 lines at most.
 */
export function collectLastLines(child: Child): () => string[] {
  let tail = '';
  const keep = (text: string) => (tail = (tail + text).slice(-keptCharacters));
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  child.once('error', (error) => keep(error.message));
  return () => tail.trim().split('\n').slice(-20);
}
