export interface Start {
  kind: 'cluster' | 'server' | 'browser' | 'build' | 'process';
  ms: number;
}

let starts: Start[] = [];

/** Starts something, and records the duration for the times of the run. */
export async function timeStart<Started>(kind: Start['kind'], start: () => Promise<Started>): Promise<Started> {
  const begun = performance.now();
  try {
    return await start();
  } finally {
    starts.push({ kind, ms: Math.round(performance.now() - begun) });
  }
}

/** Returns the starts since the last call. */
export function takeStarts(): Start[] {
  const taken = starts;
  starts = [];
  return taken;
}
