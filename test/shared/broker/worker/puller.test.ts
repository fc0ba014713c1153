import { headers } from '@nats-io/transport-node';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { decodePull } from '#shared/broker/contract/pull.ts';
import { createSubjects } from '#shared/broker/contract/subjects.ts';
import { computeScanOrder } from '#shared/broker/worker/lane-pull.ts';
import { Puller } from '#shared/broker/worker/puller.ts';
import { silentLog } from '../../../helpers/silent-log.ts';

/*
 * When a puller asks again, by a clock of the test's own. test/long/broker/forgotten-pull.test.ts has a real server do and omit
 * what is said here in its place.
 */

const subjects = createSubjects('test');
const address = { tier: 'gpu', credentialName: 'open', worker: 'w', process: 'p' } as const;
const none = new Uint8Array();

interface WaitingPull {
  class: string;
  number: number;
  /** Milliseconds between the heartbeats that it requests. */
  heartbeatMs: number | undefined;
}

/** A puller with a scripted ingress and server. */
function start() {
  const state = {
    /** Every waiting pull, oldest first. */
    pulls: [] as WaitingPull[],
    /** The number of requests for lanes. */
    laneRequests: 0,
    /** Classes whose pulls get lost. */
    lost: new Set<string>(),
    /** Whether the ingress requests heartbeats from the server. */
    hasHeartbeats: true,
    /** Resolves when the server answers a ping. */
    ping: Promise.resolve(),
  };
  const broker = {
    subjects,
    connected: true,
    publish: (subject: string, payload: unknown, reply = '') => {
      if (subject.includes('.lanes.')) {
        state.laneRequests += 1;
        queueMicrotask(() => puller.onLanes('pool', { data: Buffer.from('ingress') }));
        return;
      }
      const pull = decodePull(Buffer.from(String(payload)));
      const number = Number(reply.split('.').at(-1));
      if (!pull) throw new Error(`${subject} is no pull`);
      if (pull.expiresMs === undefined) {
        queueMicrotask(() => puller.onStatus(pull.class, number, { headers: headers(404, 'No Messages'), data: none }));
        return;
      }
      state.pulls.push({ class: pull.class, number, heartbeatMs: pull.heartbeatMs });
      if (state.lost.has(pull.class)) return;
      const data = Buffer.from(state.hasHeartbeats ? 'heartbeats' : '');
      queueMicrotask(() => puller.onStatus(pull.class, number, { data }));
    },
    publishUnhurried: () => undefined,
    measureRoundTripMs: () => state.ping.then(() => 1),
  };
  const worker = { broker, log: silentLog, address, inbox: 'inbox', pool: 'pool', countFreeSlots: () => 1 };
  const puller = new Puller(worker, () => undefined);
  onTestFinished(() => puller.close());
  /** Sends one heartbeat of the server for each waiting pull. */
  const beat = (): void => {
    for (const pull of state.pulls)
      puller.onStatus(pull.class, pull.number, { headers: headers(100, 'Idle Heartbeat'), data: none });
  };
  return { state, beat };
}

const classesOf = (pulls: readonly WaitingPull[]): string[] => pulls.map((pull) => pull.class);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the scan order of the lanes', () => {
  const firsts = Array.from({ length: 1_600 }, (_, scan) => computeScanOrder(scan + 1)[0]);
  const share = (name: string): number => firsts.filter((first) => first === name).length / firsts.length;

  it('puts high first, but normal in about one scan of five and low in one of sixteen', () => {
    expect(share('high')).toBeCloseTo(0.75, 2);
    expect(share('normal')).toBeCloseTo(0.1875, 2);
    expect(share('low')).toBeCloseTo(0.0625, 2);
  });

  it('always holds every class once', () => {
    for (let scan = 1; scan <= 16; scan += 1)
      expect(computeScanOrder(scan).toSorted()).toEqual(['high', 'low', 'normal']);
  });
});

describe('a waiting puller', () => {
  it('has one pull in every lane, with heartbeats every five seconds', async () => {
    const { state } = start();
    await vi.advanceTimersByTimeAsync(500);
    expect(classesOf(state.pulls).toSorted()).toEqual(['high', 'low', 'normal']);
    expect(state.pulls.map(({ heartbeatMs }) => heartbeatMs)).toEqual([5_000, 5_000, 5_000]);
  });

  it('pulls no more while heartbeats come', async () => {
    const { state, beat } = start();
    for (let seconds = 0; seconds < 30; seconds += 5) {
      await vi.advanceTimersByTimeAsync(5_000);
      beat();
    }
    expect(state.pulls).toHaveLength(3);
    expect(state.laneRequests).toBe(1);
  });

  it('pulls again in a lane for which no ingress has confirmed the pull within a second, and in no other', async () => {
    const { state } = start();
    state.lost.add('normal');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(state.pulls).toHaveLength(3);
    state.lost.clear();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(classesOf(state.pulls.slice(3))).toEqual(['normal']);
  });

  it('pulls again seven seconds after the last heartbeat', async () => {
    const { state, beat } = start();
    await vi.advanceTimersByTimeAsync(5_000);
    beat();
    await vi.advanceTimersByTimeAsync(7_000);
    expect(state.pulls).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(state.pulls).toHaveLength(6);
  });

  it('pulls again only after 33 s through an ingress that requests no heartbeats', async () => {
    const { state } = start();
    state.hasHeartbeats = false;
    await vi.advanceTimersByTimeAsync(33_000);
    expect(state.pulls).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(state.pulls).toHaveLength(6);
  });

  it('pulls no more if everything was blocked, and the heartbeats come with the answer to a ping', async () => {
    const { state, beat } = start();
    await vi.advanceTimersByTimeAsync(1_000);
    const { promise, resolve } = Promise.withResolvers<void>();
    state.ping = promise;
    await vi.advanceTimersByTimeAsync(9_000);
    beat();
    resolve();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(state.pulls).toHaveLength(3);
  });
});
