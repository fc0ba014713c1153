import { describe, expect, it } from 'vitest';
import type { LiveWorkerFacts } from '#services/console/contract/live.ts';
import { everyWorker, findWorkers, type WorkerSearch } from '#services/console/web/pages/workers/find-workers.ts';

const life = { slots: 1, busy: 0, missedHeartbeats: 0, startedAt: 0, joinedAt: 0, version: '0', pool: 'vllm-1' };
const facts: Omit<LiveWorkerFacts, 'id'> = { ...life, tier: 'gpu', models: [], tools: [], state: 'serving' };
const workers: LiveWorkerFacts[] = [
  { ...facts, id: 'joes.one', host: 'Basement', models: ['llama', 'qwen'] },
  { ...facts, id: 'two', tier: 'cloud', models: ['llama'], state: 'draining' },
  { ...facts, id: 'three', tier: 'cloud', models: ['sonnet'], state: 'draining', safeToStop: true },
  { ...facts, id: 'four', tier: 'tools', tools: ['add'] },
];

const find = (search: Partial<WorkerSearch>) => findWorkers(workers, { ...everyWorker, ...search }).map(({ id }) => id);

describe('the search for workers', () => {
  it('finds workers by name, model, tool, pool and host, with all its words', () => {
    expect(find({ text: 'LLAMA' })).toEqual(['joes.one', 'two']);
    expect(find({ text: 'basement qwen' })).toEqual(['joes.one']);
    expect(find({ text: 'llama sonnet' })).toEqual([]);
    expect(find({ text: 'add' })).toEqual(['four']);
    expect(find({ text: ' ' })).toHaveLength(4);
  });

  it('filters workers by tier and state, with a state of its own for a drained worker', () => {
    expect(find({ tier: 'cloud' })).toEqual(['two', 'three']);
    expect(find({ state: 'draining' })).toEqual(['two']);
    expect(find({ state: 'drained' })).toEqual(['three']);
    expect(find({ state: 'serving', tier: 'gpu', text: 'joe' })).toEqual(['joes.one']);
  });
});
