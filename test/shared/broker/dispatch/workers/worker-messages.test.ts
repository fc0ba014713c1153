import { describe, expect, it } from 'vitest';
import { encodeAck } from '#shared/broker/contract/ack.ts';
import { encodeClaim } from '#shared/broker/contract/claim.ts';
import { encodePull } from '#shared/broker/contract/pull.ts';
import { createSubjects, maxSubjectLength } from '#shared/broker/contract/subjects.ts';
import { messageRate, WorkerMessages } from '#shared/broker/dispatch/workers/worker-messages.ts';
import type { Logger } from '#shared/core/log.ts';
import { it as itWithParties } from '../../../../helpers/broker/it-with-parties.ts';
import { silentLog } from '../../../../helpers/silent-log.ts';

const subjects = createSubjects('test');
const of = (credentialName: string, worker = 'w') => ({ tier: 'gpu', credentialName, worker, process: 'p' }) as const;
/** Each credential has one worker. */
const countOne = () => 1;
const messageOf = (owner: string, data = '{}', worker = 'w') => ({
  subject: subjects.claim('i1', of(owner, worker)),
  data: Buffer.from(data),
});

/** Counts how many of these messages are read at a time, in milliseconds. */
function countRead(messages: WorkerMessages, owner: string, count: number, now: number): number {
  let read = 0;
  for (let at = 0; at < count; at += 1) if (messages.admit(messageOf(owner, '{}', `w${at % 7}`), now)) read += 1;
  return read;
}

describe('the small messages of workers', () => {
  it('are read up to a rate for each credential, whichever of its workers sends them', () => {
    const messages = new WorkerMessages(silentLog, countOne);
    const { burst, perSecond } = messageRate;
    expect(countRead(messages, 'joe', burst + 100, 0)).toBe(burst);
    expect(countRead(messages, 'joe', 16_000, 1_000)).toBe(perSecond);
    expect(countRead(messages, 'ann', 100, 1_000)).toBe(100);
  });

  it('are read at a higher rate, up to a limit, of a credential with many workers', () => {
    const { burst, perSecond, perSecondOfWorker, maxPerSecond } = messageRate;
    for (const [workers, rate] of [
      [1, perSecond],
      [15, 15 * perSecondOfWorker],
      [1_000, maxPerSecond],
    ] as const) {
      const messages = new WorkerMessages(silentLog, (name) => (name === 'joe' ? workers : 0));
      expect(countRead(messages, 'joe', burst, 0)).toBe(burst);
      expect(countRead(messages, 'joe', burst, 1_000)).toBe(rate);
    }
  });

  it('are all read of workers that get a job for each claim, at any rate', () => {
    const messages = new WorkerMessages(silentLog, countOne);
    let read = 0;
    for (let job = 0; job < 20_000; job += 1) {
      // A claim, its pulls, and the ack of a ticket that came too late.
      for (let message = 0; message < 4; message += 1) if (messages.admit(messageOf('joe'), 0)) read += 1;
      messages.recordGrant(of('joe'));
    }
    expect(read).toBe(80_000);
  });

  it('are not read if they are larger than any that a worker sends', () => {
    const messages = new WorkerMessages(silentLog, countOne);
    const ticket = 'x'.repeat(maxSubjectLength);
    const largest = [
      encodeClaim({ v: 1, job: 'x'.repeat(64), ticket }),
      encodeAck({ ticket, as: 'later' }),
      encodePull({ pool: 'x'.repeat(64), class: 'normal', batch: 10_000, expiresMs: 60_000, heartbeatMs: 30_000 }),
    ];
    for (const data of largest) expect(messages.admit(messageOf('joe', data), 0)).toEqual(of('joe'));
    expect(messages.admit(messageOf('joe', ' '.repeat(1_025)), 0)).toBeUndefined();
  });

  it('that are not read are logged once a minute for each credential', () => {
    const lines: unknown[] = [];
    const messages = new WorkerMessages(
      { error: (line: unknown) => void lines.push(line) } as unknown as Logger,
      countOne,
    );
    for (const now of [0, 1_000, 2_000]) countRead(messages, 'joe', 25_000, now);
    countRead(messages, 'ann', 25_000, 2_000);
    expect(lines).toHaveLength(2);
    countRead(messages, 'joe', 25_000, 61_000);
    expect(lines).toHaveLength(3);
  });
});

it('six hundred workers of a credential that have nothing to do wait with heartbeats', () => {
  const messages = new WorkerMessages(silentLog, () => 600);
  let refused = 0;
  // Each pulls from three lanes every 30 seconds.
  for (let second = 0; second < 120; second += 1)
    for (let pull = 0; pull < 60; pull += 1)
      if (!messages.mayHaveHeartbeats(of('joe', `w${pull}`), second * 1_000)) refused += 1;
  expect(refused).toBe(0);
});

itWithParties(
  'pulls of one credential without end do not keep the workers of others from jobs',
  async ({ ingress, addWorker }) => {
    const { subjects: own } = ingress.broker;
    const { broker } = await addWorker();
    const pull = encodePull({ pool: 'thief', class: 'low', batch: 1, expiresMs: 30_000 });
    let sent = 0;
    while (sent < messageRate.burst + 30_000) {
      for (let at = 0; at < 2_000; at += 1)
        broker.publish(own.pull(ingress.id, of('joe')), pull, `${own.inbox(of('joe'))}.a`);
      sent += 2_000;
      await broker.flush();
    }
    await ingress.broker.flush();
    expect((await ingress.send({ steps: [{ write: 'x' }] }).finished).text).toBe('x');
  },
);
