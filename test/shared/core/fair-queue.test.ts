import { expect, it } from 'vitest';
import { FairQueue, QueueFullError } from '#shared/core/fair-queue.ts';

const roomy = { concurrency: 1, waitingPerOwner: 100, waiting: 1_000 };

/** Work that runs until it is ended. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { work: () => promise, open: resolve };
}

it('FairQueue serves owners in rotation, however much work one of them has', async () => {
  const queue = new FairQueue(roomy);
  const order: string[] = [];
  const note = (name: string) => async () => void order.push(name);
  await Promise.all([
    ...[1, 2, 3, 4, 5].map((n) => queue.run('flooder', note(`flooder ${n}`))),
    queue.run('one', note('one')),
    queue.run('two', note('two')),
  ]);
  expect(order).toEqual(['flooder 1', 'flooder 2', 'one', 'two', 'flooder 3', 'flooder 4', 'flooder 5']);
});

it('FairQueue runs at most the configured number of tasks at once', async () => {
  const queue = new FairQueue({ ...roomy, concurrency: 2 });
  let running = 0;
  let most = 0;
  const work = async () => {
    most = Math.max(most, ++running);
    await new Promise(setImmediate);
    running--;
  };
  await Promise.all(Array.from({ length: 20 }, (_, i) => queue.run(`owner ${i % 3}`, work)));
  expect(most).toBe(2);
});

it('FairQueue refuses work at once when there is no room to wait: for one owner, and altogether', async () => {
  const queue = new FairQueue({ concurrency: 1, waitingPerOwner: 2, waiting: 3 });
  const first = gate();
  const nothing = async () => {};
  const accepted = [queue.run('a', first.work), queue.run('a', nothing), queue.run('a', nothing)];
  await expect(queue.run('a', nothing)).rejects.toThrow(QueueFullError);
  accepted.push(queue.run('b', nothing));
  await expect(queue.run('c', nothing)).rejects.toThrow(QueueFullError);
  first.open();
  await Promise.all(accepted);
  await queue.run('c', nothing);
});

it('FairQueue goes on after work that fails, and passes the failure on', async () => {
  const queue = new FairQueue(roomy);
  const failing = queue.run('a', () => Promise.reject(new Error('broken')));
  const next = queue.run('a', () => Promise.resolve('fine'));
  await expect(failing).rejects.toThrow('broken');
  await expect(next).resolves.toBe('fine');
});
