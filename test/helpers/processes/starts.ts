/** Something that takes long to start, and how long it took. */
export interface Start {
  kind: 'cluster' | 'server' | 'browser' | 'build' | 'process';
  ms: number;
}

let starts: Start[] = [];

/** Starts something, and keeps how long it took for the times of the run. */
export async function timeStart<Started>(kind: Start['kind'], start: () => Promise<Started>): Promise<Started> {
  const begun = performance.now();
  try {
    return await start();
  } finally {
    starts.push({ kind, ms: Math.round(performance.now() - begun) });
  }
}

/** What was started since this was called last. */
export function takeStarts(): Start[] {
  const taken = starts;
  starts = [];
  return taken;
}
