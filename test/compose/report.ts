/** Prints a measurement of the Compose tests beside their results. */
export function report(line: string): void {
  process.stdout.write(`  ▸ ${line}\n`);
}
