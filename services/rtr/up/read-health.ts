import { z } from 'zod';

const count = z.number().default(0);
const healthSchema = z.object({
  workers: z.object({ gpu: count, cli: count, cloud: count }).prefault({}),
  store: z.string().optional(),
});

export type WorkerCounts = z.output<typeof healthSchema>['workers'];

/** Returns the router's counts of live workers; undefined if the router does not answer `GET /health` with 200. */
export async function readWorkers(baseUrl: string): Promise<WorkerCounts | undefined> {
  return (await readHealth(baseUrl))?.workers;
}

/**
 * Returns the state of the account store that the router reports: `intact` or `lost`. Returns undefined if the router does not answer
 * or reports no state.
 */
export async function readStoreState(baseUrl: string): Promise<string | undefined> {
  return (await readHealth(baseUrl))?.store;
}

async function readHealth(baseUrl: string): Promise<z.output<typeof healthSchema> | undefined> {
  try {
    const answer = await fetch(`${baseUrl}/health`, { signal: AbortSignal.timeout(1_000) });
    const body: unknown = await answer.json();
    return answer.ok ? healthSchema.parse(body) : undefined;
  } catch {
    return undefined;
  }
}
