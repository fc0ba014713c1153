import { z } from 'zod';

const count = z.number().default(0);
const healthSchema = z.object({ workers: z.object({ gpu: count, cli: count, cloud: count }).prefault({}) });

/** Number of live workers by tier. */
export type WorkerCounts = z.output<typeof healthSchema>['workers'];

/** Live workers as the router counts them; undefined while it does not answer `GET /health` with 200. */
export async function readWorkers(baseUrl: string): Promise<WorkerCounts | undefined> {
  try {
    const answer = await fetch(`${baseUrl}/health`, { signal: AbortSignal.timeout(1_000) });
    const body: unknown = await answer.json();
    return answer.ok ? healthSchema.parse(body).workers : undefined;
  } catch {
    return undefined;
  }
}
