import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import { createSubjects } from '#shared/broker/contract/subjects.ts';
import { countWaitingByLane } from '#shared/broker/dispatch/waiting-counts.ts';
import { AnnouncementRequests } from '#shared/broker/dispatch/workers/announcement-requests.ts';
import { KnownNames } from '#shared/broker/dispatch/workers/known-names.ts';
import { WorkerHealth } from '#shared/broker/dispatch/workers/worker-health.ts';

/** Generates this many names. */
const names = (count: number) => Array.from({ length: count }, (_, at) => `n${at}`);

describe('an ingress', () => {
  it('remembers the last thousand names of models that no worker serves any more', () => {
    const known = new KnownNames();
    // The first name is used again.
    for (const name of [...names(1_000), 'n0', 'more']) known.add(name, 'gpu');
    expect(names(1_000).filter((name) => !known.has(name))).toEqual(['n1']);
  });

  it('keeps the outcomes of a hundred models of a worker, and drops the ejections of dropped models', () => {
    const health = new WorkerHealth();
    for (const name of names(101)) health.eject(name, 'slow', 0);
    expect(names(101).filter((name) => !health.find(name))).toEqual(['n0']);
    expect([...health.ejections()]).toHaveLength(100);
  });

  it('reports the 200 lanes with the most waiting requests', () => {
    const jobs = names(300).flatMap((pool, at) => {
      const tickets = { placed: new Map([[{ tier: 'gpu', pool }, 0]]) };
      const job = { state: 'queued', tickets, request: { class: 'normal' }, waitingSince: 0 };
      return at < 100 ? [job] : [job, job];
    });
    const lanes = countWaitingByLane(jobs as unknown as Parameters<typeof countWaitingByLane>[0]);
    expect(lanes.map(({ pool }) => pool)).toEqual(names(300).slice(100));
  });

  it('asks ten thousand workers at once to announce themselves', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let asked = 0;
    const broker = { subjects: createSubjects('test'), publish: () => (asked += 1) } as unknown as Broker;
    const requests = new AnnouncementRequests(broker);
    for (const worker of names(10_001))
      requests.request({ tier: 'gpu', credentialName: 'open', worker, process: 'p' }, () => true);
    vi.advanceTimersByTime(250);
    requests.close();
    expect(asked).toBe(10_000);
  });
});
