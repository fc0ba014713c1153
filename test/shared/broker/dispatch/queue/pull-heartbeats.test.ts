import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import { encodePull } from '#shared/broker/contract/pull.ts';
import { createSubjects } from '#shared/broker/contract/subjects.ts';
import { JetStreamProxy } from '#shared/broker/dispatch/queue/jetstream-proxy.ts';
import { messageRate, WorkerMessages } from '#shared/broker/dispatch/workers/worker-messages.ts';
import { silentLog } from '../../../../helpers/silent-log.ts';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-worker.ts';

const subjects = createSubjects('test');
const address = { tier: 'gpu', credentialName: 'open', worker: 'one', process: 'p' } as const;
const inbox = `${subjects.inbox(address)}.pull`;

/** What an ingress publishes for waiting pulls of workers in a pool of this size. */
function handedOn(pulls: number, poolSize: number): { asked: number; confirmed: number; others: number } {
  const counts = { asked: 0, confirmed: 0, others: 0 };
  let pull: ((message: object) => void) | undefined;
  const broker = {
    subjects,
    subscribe: (subject: string, onMessage: (message: object) => void) => {
      if (subject === subjects.allPulls('i1')) pull = onMessage;
      return { unsubscribe: () => undefined };
    },
    publish: (subject: string, payload: string) => {
      if (subject !== inbox) counts.asked += payload.includes('idle_heartbeat') ? 1 : 0;
      else if (payload === 'heartbeats') counts.confirmed += 1;
      else counts.others += 1;
    },
  };
  const worker = { pool: { workers: { size: poolSize } } } as unknown as LiveWorker;
  const workerMessages = new WorkerMessages(silentLog, () => 1);
  const proxy = new JetStreamProxy(broker as unknown as Broker, 'i1', { findByAddress: () => worker, workerMessages });
  const request = encodePull({ pool: 'p', class: 'normal', batch: 1, expiresMs: 30_000, heartbeatMs: 5_000 });
  for (let count = 0; count < pulls; count += 1)
    pull?.({ subject: subjects.pull('i1', address), data: Buffer.from(request), reply: inbox });
  proxy.close();
  return counts;
}

describe('heartbeats for waiting pulls', () => {
  it('are requested for all pulls of a small pool', () => {
    expect(handedOn(200, 200)).toEqual({ asked: 200, confirmed: 200, others: 0 });
  });

  it('are requested for six hundred pulls at once of the workers of a credential that get no jobs', () => {
    const { asked, confirmed, others } = handedOn(2_000, 1);
    expect(asked).toBeGreaterThanOrEqual(600);
    expect(asked).toBeLessThan(700);
    expect(confirmed + others).toBe(2_000);
  });

  it('are requested for about two hundred pulls of a large pool, and the confirmation of each pull says so', () => {
    const { asked, confirmed, others } = handedOn(4_000, 4_000);
    expect(asked).toBeGreaterThan(100);
    expect(asked).toBeLessThan(300);
    expect(confirmed).toBe(asked);
    expect(confirmed + others).toBe(4_000);
  });
});

it('the pulls of one credential reach the queue up to its rate', () => {
  // Time stands still, so that the budget does not grow meanwhile.
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { confirmed, others } = handedOn(messageRate.burst + 1_000, 1);
  expect(confirmed + others).toBe(messageRate.burst);
});
