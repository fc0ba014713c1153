import { describe, expect, it } from 'vitest';
import { ingressStatsSchema, maxTurns } from '#shared/broker/contract/ingress-stats.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import { StatsMeter, listRunningTurns } from '#services/console/live/stats-meter.ts';

const turn = { program: 'claude-code', session: 's1', key: 'k1', user: 'ada', team: '' } as const;

function job(requestId: string, fields: object = {}, state = 'streaming'): Job {
  const request = { requestId, turn, ...fields };
  const attempt = { placement: { model: 'demo' } };
  return { request, queuedAt: performance.now(), state, attempt, tickets: {} } as unknown as Job;
}

describe('the turns in the stats of an ingress', () => {
  it('are those of requests that name an agent session, each once, with the model that serves it', () => {
    const turns = listRunningTurns([job('r1'), job('r1'), job('r2', { turn: undefined }), job('r3', {}, 'queued')]);
    expect(turns).toMatchObject([
      { request: 'r1', session: 's1', user: 'ada', model: 'demo' },
      { request: 'r3', model: undefined },
    ]);
    expect(Math.abs((turns[0]?.since ?? 0) - Date.now())).toBeLessThan(5_000);
  });

  it('are distinct for keys that use the same request id', () => {
    expect(listRunningTurns([job('r1'), job('r1', { turn: { ...turn, key: 'k2' } })])).toHaveLength(2);
  });

  it('are bounded, in number and in bytes', () => {
    const name = 'x'.repeat(128);
    const long = { ...turn, session: name, agent: name, parent: name, type: 'x'.repeat(64) };
    const turns = listRunningTurns(Array.from({ length: 500 }, (_, index) => job(`r${index}`, { turn: long })));
    expect(turns).toHaveLength(maxTurns);
    expect(turns[0]?.request).toBe('r0');
    expect(JSON.stringify(turns).length).toBeLessThan(100_000);
  });

  it('are read without unreadable ones of another release', () => {
    const stats = new StatsMeter(() => []).read();
    const [own] = listRunningTurns([job('r1')]);
    const sent = { ...stats, turns: [{ request: 1 }, { ...own, mood: 'good' }] };
    expect(ingressStatsSchema.parse(JSON.parse(JSON.stringify(sent))).turns).toMatchObject([{ request: 'r1' }]);
  });
});
