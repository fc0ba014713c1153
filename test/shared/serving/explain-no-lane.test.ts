import { expect, it } from 'vitest';
import type { Capability } from '#shared/broker/contract/announcement.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';
import type { Tier } from '#shared/core/tier.ts';
import { registrySchema } from '#shared/registry/registry.ts';
import { resolveModel } from '#shared/serving/resolve-model.ts';
import { explainNoLane, type NoLane, type NoLaneParts } from '#shared/serving/explain-no-lane.ts';
import { livePool } from '../../helpers/broker/live-pool.ts';
import { passTime } from '../../helpers/pass-time.ts';

const text: Capability[] = ['stream'];

function pool(tier: Tier, model: string, can = text, status: object = {}): LivePool {
  const live = livePool({ tier, pool: model, models: [{ id: model, capabilities: can }] }, [{ id: `${model}-1` }]);
  for (const { announcement } of live.workers) Object.assign(announcement, status);
  return live;
}

interface Asked {
  needs?: object;
  file?: object;
  lost?: LivePool[];
  waits?: Partial<NoLaneParts>;
}

function why(model: string, pools: LivePool[], { needs, file = {}, lost = [], waits }: Asked = {}): NoLane | undefined {
  const registry = registrySchema.parse(file);
  const request = {
    model: resolveModel(model, registry),
    needs: { tools: false, vision: false, thinking: false, json: false, inputTokens: 1, ...needs },
    operation: 'generate' as const,
    format: 'chat',
  };
  const rules = { auto: registry.auto, priceOf: (_: Tier, id: string) => registry.prices[id], permits: () => true };
  const parts = { pools, lostPools: lost, noWorkerMs: 15_000, maxWaitMs: undefined, ...waits };
  return explainNoLane(model, { ...request, ...rules }, parts);
}

const limited = { accepting: false, reason: 'limited: rate_limit_exceeded' };
const paused = (seconds: number) => ({ ...limited, resumesAt: Date.now() + seconds * 1000 });

const both = 'No connected model takes tools of the client and images.';
it('a request for auto is refused at once if no connected model takes what it has, with a code that clients know', () => {
  const none = why('auto', [pool('gpu', 'a'), pool('cli', 'b')], { needs: { vision: true, tools: true } });
  const details = { capability: 'image_block' };
  expect(none).toMatchObject({ waits: false, error: { code: 'unsupported_parameter', message: both, details } });
});

it('a request for auto is refused with the capabilities that no model combines', () => {
  const pools = [pool('gpu', 'a', ['tools']), pool('cloud', 'b', ['vision'])];
  const none = why('auto', pools, { needs: { vision: true, tools: true } });
  expect(none?.error).toMatchObject({ message: both, details: undefined });
});

it('a request for auto waits for a model that was present a moment ago, or that may be started', () => {
  const needs = { vision: true };
  const [blind, sees] = [pool('gpu', 'a'), pool('cloud', 'b', ['vision'])];
  expect(why('auto', [blind], { needs, lost: [sees] })?.waits).toBe(true);
  expect(why('auto', [blind], { needs, lost: [pool('gpu', 'c')] })?.waits).toBe(false);
  expect(why('auto', [blind], { needs, waits: { noWorkerMs: 600_000 } })?.waits).toBe(true);
  expect(why('auto', [], { needs })).toBeUndefined();
});

it('a request for auto is refused with the limits of the registry that leave all connected models out', () => {
  const file = { prices: { dear: { input: 1, output: 50 } }, auto: { max_cost: 10 } };
  const message =
    '`auto` may choose none of the connected models: `auto.max_cost` of the registry leaves all of them out.';
  const error = { code: 'no_worker_available', message, retryAfter: 10 };
  expect(why('auto', [pool('cloud', 'dear')], { file })).toMatchObject({ waits: false, error });
});

const file = { models: { best: { targets: [{ model: 'gone' }, { model: 'far', tier: 'cloud' }] } } };

it('a name of the registry is refused at once if no worker serves its targets', () => {
  const message = 'No connected worker serves `gone` or `far`, which `best` stands for.';
  const error = { code: 'no_worker_available', message, retryAfter: 10 };
  const pools = [pool('gpu', 'other'), pool('gpu', 'far')];
  expect(why('best', pools, { file })).toMatchObject({ waits: false, error });
});

it('a name of the registry waits for a worker that was present a moment ago', () => {
  expect(why('best', [pool('gpu', 'other')], { file, lost: [pool('gpu', 'gone')] })?.waits).toBe(true);
});

it('a name of the registry is needed: for a plain model name no reason is known', () => {
  expect(why('gone', [pool('gpu', 'other')])).toBeUndefined();
});

it.each(['auto', 'a'])(
  'workers that pause refuse a request for %s at once if all pause longer than it waits',
  (model) => {
    passTime(0);
    const none = why(model, [pool('gpu', 'a', text, paused(50)), pool('cloud', 'a', text, paused(30))]);
    expect(none).toMatchObject({ waits: false, error: { code: 'rate_limit_exceeded', retryAfter: 30 } });
  },
);

it('workers that pause let a request wait if one resumes in time', () => {
  const pools = [pool('gpu', 'a', text, paused(50)), pool('cloud', 'b', text, paused(5))];
  expect(why('auto', pools)?.waits).toBe(true);
  expect(why('auto', pools, { waits: { maxWaitMs: 1_000 } })?.waits).toBe(false);
});

it('workers that pause let a request wait if they do not report until when, or if one fails', () => {
  const closed = { accepting: false, reason: 'failing: upstream_failed' };
  const none = why('auto', [pool('gpu', 'a', text, paused(50)), pool('cloud', 'b', text, closed)]);
  expect(none).toMatchObject({ waits: true, error: { message: expect.stringContaining(closed.reason) } });
  expect(why('auto', [pool('gpu', 'a', text, limited)])?.waits).toBe(true);
});
