/** Prints a line of the report that a run of the Compose tests gives, besides what passed and what failed. */
export function tell(line: string): void {
  process.stdout.write(`  ▸ ${line}\n`);
}
