import type { AddressInfo } from 'node:net';
import { until } from '../until.ts';
import type { ServiceProcess } from '../processes/start-process.ts';

/** Sends requests until a worker, started with an admin port, has taken one without a ticket: from then on it waits for offers. */
export async function untilItTakesOffers(
  worker: ServiceProcess | undefined,
  ask: () => Promise<unknown>,
): Promise<void> {
  const url = await adminOf(worker);
  await until(async () => {
    await ask();
    const metrics = await (await fetch(`${url}/metrics`)).text();
    return /^rtr_worker_offers_total\{outcome="taken"\} [1-9]/m.test(metrics);
  });
}

/** Returns the address of the admin port of a worker or batch runner that was started with `ADMIN_PORT=0`. */
export async function adminOf(worker: ServiceProcess | undefined): Promise<string> {
  if (!worker) throw new Error('there is no such worker');
  const { admin } = await worker.line('the admin port is open');
  return `http://127.0.0.1:${(admin as AddressInfo).port}`;
}

/**
 * Returns the value of a series at an admin port; undefined if there is none.
 * @param series with its labels, such as `rtr_jobs{state="claimed"}`
 */
export async function metricOf(adminUrl: string, series: string): Promise<number | undefined> {
  const text = await (await fetch(`${adminUrl}/metrics`)).text();
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}
