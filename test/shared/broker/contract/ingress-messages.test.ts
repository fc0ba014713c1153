import { describe, expect } from 'vitest';
import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import { ownContract } from '#shared/broker/contract/contract-range.ts';
import { emptyIngressStats, onIngressStats, type IngressStats } from '#shared/broker/contract/ingress-stats.ts';
import {
  announceKeyChange,
  onKeyChange,
  onPriceChange,
  onRegistryChange,
} from '#shared/broker/contract/change-signals.ts';
import type { Parties } from '../../../helpers/broker/broker-parties.ts';
import { it } from '../../../helpers/broker/it-with-parties.ts';

const lane = { tier: 'gpu', pool: 'p', class: 'normal', waiting: 3 };
const failure = { at: 1, requestId: 'r', code: 'internal', message: 'm', tier: 'gpu', worker: 'w' };
const { oldest: _, ...noStats } = emptyIngressStats;
const stats = {
  ...noStats,
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

/** Publishes a message as another ingress, and waits until this one, which is subscribed, has got it. */
async function say(
  { ingress, addIngress }: Parties,
  listen: (own: Broker) => unknown,
  speak: (other: Broker) => unknown,
): Promise<void> {
  const { broker: other } = await addIngress();
  listen(ingress.broker);
  await ingress.broker.flush();
  await speak(other);
  await other.flush();
  await ingress.broker.flush();
}

/** The ingress stats that an ingress of this release reads from these messages. */
async function received(parties: Parties, ...messages: readonly object[]): Promise<IngressStats[]> {
  const taken: IngressStats[] = [];
  await say(
    parties,
    (own) => onIngressStats(own, (from, each) => void (from === 'other' && taken.push(each))),
    (other) => {
      for (const each of messages) other.publish(other.subjects.ingressStats('other'), JSON.stringify(each));
    },
  );
  return taken;
}

describe('ingress stats of a newer release', () => {
  it('lose only the entries of tiers and classes that this release does not know', async ({ start }) => {
    const [taken] = await received(await start(), {
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

  it('are ignored when the two releases share no version of the contract', async ({ start }) => {
    const ahead = ownContract.newest + 1;
    const foreign = [
      { ...stats, v: ahead },
      { ...stats, v: ahead + 1, oldest: ahead },
    ];
    expect(await received(await start(), ...foreign, stats)).toHaveLength(1);
  });

  it('are bounded in what they list', async ({ start }) => {
    const many = {
      lanes: Array.from({ length: 10_000 }, () => lane),
      failures: Array.from({ length: 1_000 }, () => failure),
    };
    const [taken] = await received(await start(), { ...stats, ...many });
    expect(taken?.lanes).toHaveLength(500);
    expect(taken?.failures).toHaveLength(50);
  });
});

describe('a change', () => {
  it.for([
    ['of a key, a person or a team reaches every ingress by its name', ['kqzm', 'user:u1', 'team:t1'], undefined],
    ['of a kind that only a newer release knows may concern any key', ['project:p1', ''], [undefined, undefined]],
  ] as const)('%s', async ([, said, heard = said], { start }) => {
    const changes: (string | undefined)[] = [];
    await say(
      await start(),
      (own) => onKeyChange(own, (changed) => void changes.push(changed)),
      (other) => Promise.all(said.map((changed) => announceKeyChange(other, changed))),
    );
    expect(changes).toEqual(heard);
  });

  it.for([
    ['prices', onPriceChange],
    ['registry', onRegistryChange],
  ] as const)('of the %s is noticed, whatever a newer release adds to it', async ([subject, onChange], { parties }) => {
    let changes = 0;
    await say(
      parties,
      (own) => onChange(own, () => void (changes += 1)),
      (other) => other.publish(other.subjects[subject], JSON.stringify({ tier: 'quantum' })),
    );
    expect(changes).toBe(1);
  });
});
