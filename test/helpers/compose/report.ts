import type { ComposeProject } from './compose-project.ts';

/** Prints a measurement of the Compose tests beside their results. */
export function report(line: string): void {
  process.stdout.write(`  ▸ ${line}\n`);
}

interface Use {
  Name: string;
  MemUsage: string;
  CPUPerc: string;
}

/** Current memory and CPU of each container, such as `ingress-1 84.6MiB 2%`. */
export async function describeUse(compose: ComposeProject): Promise<string> {
  const lines = (await compose.run('stats', '--no-stream', '--format', 'json')).split('\n').filter(Boolean);
  return lines
    .map((line) => JSON.parse(line) as Use)
    .map(({ Name, MemUsage, CPUPerc }) => {
      const name = Name.replace(`${compose.name}-`, '');
      return `${name} ${MemUsage.split(' ')[0] ?? ''} ${Number.parseFloat(CPUPerc).toFixed(0)}%`;
    })
    .sort()
    .join(', ');
}
