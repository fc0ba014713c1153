import { Gauge, type Registry } from 'prom-client';

/** Adds to a worker's metrics whether its MCP servers, as many as are configured, can be used. */
export function watchServers(
  registry: Registry,
  servers: () => Iterable<{ readonly prefix: string; readonly available: boolean }>,
): void {
  const up: Gauge<'server'> = new Gauge({
    name: 'rtr_mcp_server_up',
    help: 'Whether an MCP server of a tools worker can be used: 1 or 0',
    labelNames: ['server'],
    registers: [registry],
    collect: () => {
      for (const { prefix, available } of servers()) up.set({ server: prefix }, available ? 1 : 0);
    },
  });
}
