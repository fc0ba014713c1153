import type { AddressInfo } from 'node:net';
import type { ServiceProcess } from './start-process.ts';

/** The address of a worker's admin port, which it was started with as `ADMIN_PORT=0`. */
export async function adminOf(worker: ServiceProcess | undefined): Promise<string> {
  if (!worker) throw new Error('there is no such worker');
  const { admin } = await worker.line('the admin port is open');
  return `http://127.0.0.1:${(admin as AddressInfo).port}`;
}
