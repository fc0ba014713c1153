import { setTimeout as sleep } from 'node:timers/promises';
import { LoadConnection, prepareRequest, type Timing } from './load-connection.ts';
import type { LoadOrder, LoadResult } from './load.ts';

/*
 * The clients, in a process of their own: takes one order after the other from its parent and sends back what came of
 * it. Ends when its parent does.
 */

/** Streams that may wait for their first token at once while many are opened. */
const openingAtOnce = 64;

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
    case 'close':
      for (const connection of held) connection.close();
      held = [];
      return new Tally().result();
  }
}

async function run(order: LoadOrder & { kind: 'run' }): Promise<LoadResult> {
  const { target, connections, bodies, seconds, requests, rampSeconds } = order;
  const prepared = bodies.map((body) => prepareRequest(target, body));
  const tally = new Tally();
  const endsAt = performance.now() + seconds * 1000;
  let begun = 0;
  const client = async (number: number): Promise<void> => {
    await sleep((rampSeconds * 1000 * number) / connections);
    let connection = new LoadConnection(target);
    while (begun < requests && performance.now() < endsAt) {
      const request = prepared[begun % prepared.length];
      if (!request) break;
      begun += 1;
      try {
        tally.add(await connection.send(request));
      } catch (error) {
        tally.fail(error);
        connection = new LoadConnection(target);
        // A server that refuses at once is not to be asked in a tight loop.
        await sleep(20);
      }
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: connections }, (_, number) => client(number)));
  return tally.result();
}

/** Resolves when every stream has its first token; what happens to the streams afterwards is nobody's business here. */
async function open({ target, connections, body }: LoadOrder & { kind: 'open' }): Promise<LoadResult> {
  const tally = new Tally();
  const request = prepareRequest(target, body);
  const openNext = async (): Promise<void> => {
    while (held.length < connections) {
      const connection = new LoadConnection(target);
      held.push(connection);
      const startedAt = performance.now();
      try {
        await new Promise<void>((resolve, reject) => {
          connection.send(request, resolve).catch(reject);
        });
        const firstMs = performance.now() - startedAt;
        tally.add({ firstMs, totalMs: firstMs });
      } catch (error) {
        tally.fail(error);
      }
    }
  };
  await Promise.all(Array.from({ length: openingAtOnce }, openNext));
  return tally.result();
}

class Tally {
  readonly #startedAt = performance.now();
  readonly #first: number[] = [];
  readonly #total: number[] = [];
  readonly #failures: Record<string, number> = {};

  add({ firstMs, totalMs }: Timing): void {
    this.#first.push(firstMs);
    this.#total.push(totalMs);
  }

  fail(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.#failures[reason] = (this.#failures[reason] ?? 0) + 1;
  }

  result(): LoadResult {
    return {
      requests: this.#first.length,
      seconds: (performance.now() - this.#startedAt) / 1000,
      failures: this.#failures,
      firstMs: Float64Array.from(this.#first),
      totalMs: Float64Array.from(this.#total),
    };
  }
}
