import { setTimeout as sleep } from 'node:timers/promises';
import { LoadConnection, prepareRequest } from './load-connection.ts';
import type { LoadOrder, LoadResult } from './load.ts';
import { Tally } from './tally.ts';

/*
 * The clients, in a process of their own: takes one order after the other from its parent and sends back the result. Ends when its parent
 * does.
 */

/** Maximum number of streams that wait for their first token at once while many are opened. */
const openingAtOnce = 64;

/** Milliseconds for connections to be established before the first request, so that no request waits for that. */
const connectMs = 50;

/** Milliseconds after which an opened stream without a first token counts as failed. */
const openMs = 30_000;

let held: LoadConnection[] = [];

process.on('message', (order: LoadOrder) => {
  carryOut(order)
    .then((result) => process.send?.(result))
    .catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    });
});
process.on('disconnect', () => process.exit());

async function carryOut(order: LoadOrder): Promise<LoadResult> {
  switch (order.kind) {
    case 'run':
      return run(order);
    case 'open':
      return open(order);
    case 'close': {
      const requests = held.filter(({ isOpen }) => isOpen).length;
      for (const connection of held) connection.close();
      held = [];
      return { ...new Tally().result(), requests };
    }
  }
}

async function run(order: LoadOrder & { kind: 'run' }): Promise<LoadResult> {
  const { target, connections, bodies, seconds, requests, rampSeconds, keys = [target.key], texts, timeoutMs } = order;
  const prepared = keys.flatMap((key) => bodies.map((body) => prepareRequest({ ...target, key }, body, texts)));
  const connected = Array.from({ length: connections }, () => new LoadConnection(target));
  await sleep(connectMs);
  const tally = new Tally();
  const endsAt = performance.now() + seconds * 1000;
  let begun = 0;
  const client = async (first: LoadConnection, number: number): Promise<void> => {
    let connection = first;
    await sleep((rampSeconds * 1000 * number) / connections);
    while (begun < requests && performance.now() < endsAt) {
      const request = prepared[begun % prepared.length];
      if (!request) break;
      begun += 1;
      try {
        tally.add(await connection.send(request, { timeoutMs }));
      } catch (error) {
        tally.fail(error);
        connection = new LoadConnection(target);
        // A server that refuses at once must not be asked in a tight loop.
        await sleep(20);
      }
    }
    connection.close();
  };
  await Promise.all(connected.map(client));
  return tally.result();
}

/**
 * Resolves when every stream has its first token, or when the time is over. What happens to the streams afterwards shows when they are
 * closed.
 */
async function open(order: LoadOrder & { kind: 'open' }): Promise<LoadResult> {
  const { target, connections, body, seconds = Number.POSITIVE_INFINITY, sources } = order;
  const tally = new Tally();
  const request = prepareRequest(target, body);
  const endsAt = performance.now() + seconds * 1000;
  const openNext = async (): Promise<void> => {
    while (held.length < connections && performance.now() < endsAt) {
      const source = sources === undefined ? undefined : `127.0.0.${1 + (held.length % sources)}`;
      const connection = new LoadConnection(target, source);
      held.push(connection);
      const startedAt = performance.now();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const timer = setTimeout(() => reject(new Error('no first token')), openMs);
      connection.send(request, { onFirst: resolve }).catch(reject);
      try {
        await promise;
        tally.addOpened(performance.now() - startedAt);
      } catch (error) {
        tally.fail(error);
      }
      clearTimeout(timer);
    }
  };
  await Promise.all(Array.from({ length: openingAtOnce }, openNext));
  return tally.result();
}
