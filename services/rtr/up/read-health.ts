import { z } from 'zod';

const healthSchema = z.object({ workers: z.object({ gpu: z.number() }).partial().default({}) });

/** How many gpu workers the router knows; undefined while it does not answer `GET /health` with 200. */
export async function readGpuWorkers(baseUrl: string): Promise<number | undefined> {
  try {
    const answer = await fetch(`${baseUrl}/health`, { signal: AbortSignal.timeout(1_000) });
    const body: unknown = await answer.json();
    return answer.ok ? (healthSchema.parse(body).workers.gpu ?? 0) : undefined;
  } catch {
    return undefined;
  }
}
