/**
 * Splits a command line into words as shells do with blanks and quotes, and nothing else of what shells do: no variables, no
 * globs, no escapes, no pipes.
 */
export function splitCommand(line: string): string[] {
  return [...line.matchAll(/(?:[^\s"']|"[^"]*"|'[^']*')+/g)].map(([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ''),
  );
}
