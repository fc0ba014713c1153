import { describe, expect, it, onTestFinished } from 'vitest';
import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import { ownContract } from '#shared/broker/contract/contract-range.ts';
import { onIngressStats, type IngressStats } from '#shared/broker/contract/ingress-stats.ts';
import {
  announceKeyChange,
  onKeyChange,
  onPriceChange,
  onRegistryChange,
} from '#shared/broker/contract/change-signals.ts';
import { startParties } from '../../../helpers/broker/broker-parties.ts';

/** An ingress of this release, and the connection of one of another release. */
async function start(): Promise<{ own: Broker; other: Broker }> {
  const parties = await startParties();
  onTestFinished(() => parties.close());
  const other = await parties.addIngress();
  return { own: parties.ingress.broker, other: other.broker };
}

const lane = { tier: 'gpu', pool: 'p', class: 'normal', waiting: 3 };
const failure = { at: 1, requestId: 'r', code: 'internal', message: 'm', tier: 'gpu', worker: 'w' };
const stats = {
  v: ownContract.newest,
  at: 1_000,
  requests: [1],
  tokens: [2],
  errors: [0],
  firstToken: [1],
  activeStreams: 1,
  servedByTier: { gpu: 5 },
  lanes: [lane],
  waitingByTier: { gpu: 3 },
  failures: [failure],
};

/** The ingress stats that an ingress of this release takes from these messages. */
async function received(...messages: readonly object[]): Promise<IngressStats[]> {
  const { own, other } = await start();
  const taken: IngressStats[] = [];
  onTestFinished(onIngressStats(own, (from, each) => void (from === 'other' && taken.push(each))));
  await own.flush();
  for (const message of messages) other.publish(other.subjects.ingressStats('other'), JSON.stringify(message));
  await other.flush();
  await own.flush();
  return taken;
}

describe('ingress stats of a newer release', () => {
  it('lose only the entries of tiers and classes that this release does not know', async () => {
    const [taken] = await received({
      ...stats,
      v: ownContract.newest + 1,
      oldest: ownContract.newest,
      carbon: { grams: 3 },
      servedByTier: { gpu: 5, quantum: 7 },
      lanes: [
        { ...lane, tier: 'quantum' },
        { ...lane, class: 'urgent' },
        { ...lane, since: 9 },
      ],
      unplaced: [
        { tier: 'quantum', class: 'normal', waiting: 1 },
        { tier: 'gpu', class: 'normal', waiting: 2, since: 9 },
      ],
      waitingByTier: { quantum: 1, gpu: 3 },
      failures: [{ ...failure, tier: 'quantum' }, { at: 'noon' }, failure],
      ejected: [{ worker: 'w', model: 'm', reason: 'moody', until: 9 }, { worker: 7 }],
    });
    expect(taken?.ejected).toEqual([{ worker: 'w', model: 'm', reason: 'moody' }]);
    expect(taken).toMatchObject({ requests: [1], servedByTier: { gpu: 5 }, waitingByTier: { gpu: 3 }, lanes: [lane] });
    expect(taken?.servedByTier).toEqual({ gpu: 5 });
    expect(taken?.unplaced).toEqual([{ tier: 'gpu', class: 'normal', waiting: 2 }]);
    expect(taken?.failures.map(({ requestId, tier }) => [requestId, tier])).toEqual([
      ['r', undefined],
      ['r', 'gpu'],
    ]);
  });

  it('are ignored when the two releases share no version of the contract', async () => {
    const ahead = ownContract.newest + 1;
    expect(await received({ ...stats, v: ahead }, { ...stats, v: ahead + 1, oldest: ahead }, stats)).toHaveLength(1);
  });

  it('are bounded in what they list', async () => {
    const many = {
      lanes: Array.from({ length: 10_000 }, () => lane),
      failures: Array.from({ length: 1_000 }, () => failure),
    };
    const [taken] = await received({ ...stats, ...many });
    expect(taken?.lanes).toHaveLength(500);
    expect(taken?.failures).toHaveLength(50);
  });
});

describe('a change', () => {
  it('of a key, a person or a team reaches every ingress by its name', async () => {
    const { own, other } = await start();
    const changes: (string | undefined)[] = [];
    onKeyChange(own, (changed) => void changes.push(changed));
    await own.flush();
    for (const changed of ['kqzm', 'user:u1', 'team:t1']) await announceKeyChange(other, changed);
    await own.flush();
    expect(changes).toEqual(['kqzm', 'user:u1', 'team:t1']);
  });

  it('of a kind that only a newer release knows may concern any key', async () => {
    const { own, other } = await start();
    const changes: (string | undefined)[] = [];
    onKeyChange(own, (changed) => void changes.push(changed));
    await own.flush();
    for (const payload of ['project:p1', '']) other.publish(other.subjects.keys, payload);
    await other.flush();
    await own.flush();
    expect(changes).toEqual([undefined, undefined]);
  });

  it('of prices is noticed whatever a newer release adds to it', async () => {
    const { own, other } = await start();
    let changes = 0;
    onPriceChange(own, () => void (changes += 1));
    await own.flush();
    other.publish(other.subjects.prices, JSON.stringify({ tier: 'quantum' }));
    await other.flush();
    await own.flush();
    expect(changes).toBe(1);
  });

  it('of the registry is noticed whatever a newer release adds to it', async () => {
    const { own, other } = await start();
    let changes = 0;
    onRegistryChange(own, () => void (changes += 1));
    await own.flush();
    other.publish(other.subjects.registry, JSON.stringify({ version: 7 }));
    await other.flush();
    await own.flush();
    expect(changes).toBe(1);
  });
});
