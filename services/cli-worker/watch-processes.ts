import { Gauge, type Registry } from 'prom-client';

/** How many processes of a CLI there are, by what they do. */
export interface ProcessCounts {
  ready: number;
  held: number;
  starting: number;
}

/** Adds the processes of a worker's CLI to its metrics. */
export function watchProcesses(registry: Registry, read: () => ProcessCounts): void {
  const processes: Gauge<'state'> = new Gauge({
    name: 'rtr_cli_processes',
    help: "Processes of a cli worker's CLI: ready for a conversation, held by one, or starting",
    labelNames: ['state'],
    registers: [registry],
    collect: () => {
      for (const [state, count] of Object.entries(read())) processes.set({ state }, count);
    },
  });
}
