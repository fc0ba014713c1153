import type { Client } from './client.ts';
import { installClient } from './install-client.ts';

/**
 * Installs clients beside the run: one at a time from each registry, those from PyPI from the last to the first, because the
 * last one is the largest.
 * @returns for each client a promise of its folder
 */
export function installClients(clients: readonly Client[]): Map<Client, Promise<string>> {
  const lanes = Map.groupBy(clients, ({ from }) => from.registry);
  const order = [...(lanes.get('npm') ?? []), ...(lanes.get('PyPI') ?? []).toReversed()];
  const ends = new Map<string, Promise<unknown>>();
  return new Map(
    order.map((client) => {
      const before = ends.get(client.from.registry) ?? Promise.resolve();
      const installing = before.then(() => installClient(client));
      // Whoever awaits the promise is told of a failure; the next client is installed all the same.
      const end = installing.catch(() => undefined);
      ends.set(client.from.registry, end);
      return [client, installing] as const;
    }),
  );
}
