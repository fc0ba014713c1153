import type { Releases } from '#shared/core/release.ts';

/** Releases everything when the bench is told to end. Ends it at once on a machine that is not Linux. */
export function releaseAtSignals(releases: Releases): void {
  if (process.platform !== 'linux') {
    process.stderr.write('The bench reads CPU time and memory from /proc: it runs on Linux only.\n');
    process.exit(1);
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'disconnect'] as const)
    process.once(signal, () => void releases.releaseAll().then(() => process.exit(1)));
}

/** Releases everything at the end, and reports what cannot be released. */
export async function releaseEverything(releases: Releases): Promise<void> {
  for (const failure of await releases.releaseAll())
    process.stderr.write(`${failure.message}: ${String(failure.cause)}\n`);
}
