import { expect, it } from 'vitest';
import { ownContract } from '#shared/broker/contract/contract-range.ts';
import { openCredentialName } from '#shared/broker/contract/worker-address.ts';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-worker.ts';
import { LivePools } from '#shared/broker/dispatch/workers/live-pools.ts';
import { announcementOf } from '../../../../helpers/broker/announcement.ts';

/** Lets a worker of an owner announce one new pool after the other. */
function change(pools: LivePools, owner: string, times: number, bytes: number): void {
  const address = { tier: 'gpu', credentialName: owner, worker: 'w', process: 'p' } as const;
  for (let at = 0; at < times; at += 1) {
    const announcement = announcementOf({ pool: `${owner}-${at}` });
    const pool = pools.getOrCreatePool(pools.computeKey(announcement), announcement);
    pools.removeWorker({ address, pool, announcementBytes: Buffer.alloc(bytes) } as unknown as LiveWorker);
  }
}

const lostOf = (pools: LivePools, owner: string): string[] =>
  pools.findLost(performance.now()).flatMap(({ pool }) => (pool.startsWith(`${owner}-`) ? [pool] : []));

it('remembers the newest lost pools of an owner, and those of all others', () => {
  const pools = new LivePools(ownContract);
  change(pools, 'ann', 2, 100);
  change(pools, 'joe', 10, 500 * 1024);
  expect(lostOf(pools, 'joe')).toEqual(['joe-6', 'joe-7', 'joe-8', 'joe-9']);
  change(pools, 'joe', 2_000, 100);
  expect(lostOf(pools, 'joe')).toHaveLength(512);
  expect(lostOf(pools, 'ann')).toEqual(['ann-0', 'ann-1']);
  change(pools, openCredentialName, 2_000, 100);
  expect(lostOf(pools, openCredentialName)).toHaveLength(2_000);
});

it('still knows what a pool served that was just lost, however many names workers of another credential lose', () => {
  const pools = new LivePools(ownContract);
  const lose = (owner: string, models: string[], tools: string[] = []): void => {
    const address = { tier: 'gpu', credentialName: owner, worker: 'w', process: 'p' } as const;
    const announcement = announcementOf({
      pool: owner,
      models: models.map((id) => ({ id, capabilities: [] })),
      tools: tools.map((name) => ({ name, description: '', inputSchema: { type: 'object' } })),
    });
    const pool = pools.getOrCreatePool(pools.computeKey(announcement), announcement);
    pools.removeWorker({ address, pool, announcementBytes: Buffer.alloc(100) } as unknown as LiveWorker);
  };
  lose('ann', ['demo'], ['add']);
  lose(
    'joe',
    Array.from({ length: 1_500 }, (_, at) => `m${at}`),
    Array.from({ length: 1_500 }, (_, at) => `t${at}`),
  );
  expect([pools.isKnownModel('demo'), pools.isKnownTool('add'), pools.isKnownModel('other')]).toEqual([
    true,
    true,
    false,
  ]);
  expect([...pools.findTiers('demo')]).toEqual(['gpu']);
});
