import { setTimeout as sleep } from 'node:timers/promises';
import { chooseFreePort } from './free-port.ts';
import { type Child, collectLastLines, isRunning, stopChild } from '../children/child.ts';

export interface PortServer {
  name: string;
  start(port: number): Child | Promise<Child>;
  /** Whether the child, and not another program, answers on the port and is ready. Resolves within about a second, and never rejects. */
  isReady(port: number, child: Child): Promise<boolean>;
}

export interface StartedServer {
  port: number;
  child: Child;
}

const maxTries = 5;
const readyTimeoutMs = 15_000;

/**
 * Starts a server on the wanted port if that is free, otherwise on another free port. If another program binds the port before the server
 * does, the server ends, and the function tries another port.
 * @param stop aborts when the server is to be stopped; the server is then returned at once, ready or not
 * @throws Error with the server's last lines if it does not become ready
 */
export async function startOnPort(server: PortServer, wanted?: number, stop?: AbortSignal): Promise<StartedServer> {
  let failure = '';
  for (let count = 0; count < maxTries; count += 1) {
    const port = await chooseFreePort(count === 0 ? wanted : undefined);
    const child = await server.start(port);
    const lastLines = collectLastLines(child);
    if ((await waitUntilReady(server, port, child, stop)) || stop?.aborted) return { port, child };
    await stopChild(child, 1_000);
    failure = lastLines().join('\n');
    if (!/in use/i.test(failure)) break;
  }
  throw new Error(`${server.name} did not start${failure && `:\n${failure}`}`);
}

async function waitUntilReady(server: PortServer, port: number, child: Child, stop?: AbortSignal): Promise<boolean> {
  let failed = false;
  child.once('error', () => (failed = true));
  const deadline = Date.now() + readyTimeoutMs;
  while (Date.now() < deadline) {
    if (await server.isReady(port, child)) return true;
    if (failed || stop?.aborted || !isRunning(child)) return false;
    await sleep(15);
  }
  return false;
}
