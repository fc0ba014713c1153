import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import { maxAnnounceMs, encodeAnnounceRequest } from '#shared/broker/contract/heartbeats.ts';
import { createSubjects } from '#shared/broker/contract/subjects.ts';
import { Heartbeat } from '#shared/broker/worker/heartbeat.ts';
import { announcementOf } from '../../../helpers/broker/announcement.ts';

const worker = { tier: 'gpu', credentialName: 'open', worker: 'one', process: 'p' } as const;

/** A worker's heartbeats, each with its time by the clock. */
function start() {
  const sentAt: number[] = [];
  let onRequest: (message: { data: Uint8Array }) => void = () => undefined;
  const broker = {
    subjects: createSubjects('test'),
    publish: () => void sentAt.push(Date.now()),
    subscribe: (_: string, take: typeof onRequest) => {
      onRequest = take;
      return { unsubscribe: () => undefined };
    },
    onReconnect: () => () => undefined,
  };
  const heartbeat = new Heartbeat(
    broker as unknown as Broker,
    worker,
    () => announcementOf({ worker: 'one' }),
    () => 0,
  );
  return {
    heartbeat,
    sentAt,
    request: () => onRequest({ data: Buffer.from(encodeAnnounceRequest({ kind: 'again' })) }),
  };
}

const gaps = (times: readonly number[]): number[] => times.slice(1).map((at, index) => at - (times[index] ?? 0));

describe('heartbeats', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_795_000_000_123 }));
  afterEach(() => void vi.useRealTimers());

  it('of many workers come at twenty moments of each second', () => {
    const all = Array.from({ length: 60 }, start);
    vi.advanceTimersByTime(10_000);
    for (const { heartbeat } of all) heartbeat.stop();
    const beats = all.flatMap(({ sentAt }) => sentAt.slice(1, -1));
    expect(new Set(beats.map((at) => at % 50))).toEqual(new Set([0]));
    expect(new Set(beats.map((at) => at % 1_000)).size).toBeGreaterThan(10);
    for (const { sentAt } of all) {
      expect(new Set(gaps(sentAt.slice(1, -1)))).toEqual(new Set([1_000]));
      expect(gaps(sentAt)[0]).toBeLessThanOrEqual(1_250);
    }
  });

  it('announce the worker to every ingress that starts, within its wait, even right after another one', () => {
    const { heartbeat, sentAt, request } = start();
    for (let ingress = 0; ingress < 20; ingress++) {
      vi.advanceTimersByTime(70);
      request();
      const askedAt = Date.now();
      const before = sentAt.length;
      vi.advanceTimersByTime(maxAnnounceMs);
      expect(sentAt[before]).toBeLessThanOrEqual(askedAt + maxAnnounceMs);
      request();
    }
    heartbeat.stop();
    expect(sentAt.length).toBeLessThan(60);
  });

  it.each([-3_600_000, -400, -30, 30, 400, 3_600_000])('continue when the clock is set by %i ms', (setMs) => {
    const { heartbeat, sentAt } = start();
    const begin = Date.now();
    vi.advanceTimersByTime(3_300);
    const before = sentAt.length;
    vi.setSystemTime(Date.now() + setMs);
    vi.advanceTimersByTime(4_000);
    heartbeat.stop();
    const elapsed = sentAt.map((at, index) => (index < before ? at : at - setMs) - begin);
    for (const gap of gaps(elapsed).slice(1, -1)) {
      expect(gap).toBeGreaterThanOrEqual(250);
      expect(gap).toBeLessThanOrEqual(1_250);
    }
    expect(elapsed.length).toBeGreaterThan(6);
  });
});
