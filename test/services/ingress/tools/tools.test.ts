import { describe, expect, it } from 'vitest';
import { type ToolInfo } from '#shared/broker/contract/announcement.ts';
import { derivePoolToken } from '#shared/broker/contract/pool-token.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';
import { chooseToolLanes } from '#shared/serving/serve-tool.ts';
import { listTools } from '#shared/serving/list-tools.ts';
import { isToolDenied, readToolPermits } from '#shared/serving/tool-permits.ts';
import { livePool, type WorkerFacts } from '../../../helpers/broker/live-pool.ts';

const tool = (name: string, description = ''): ToolInfo => ({ name, description, inputSchema: { type: 'object' } });

const token = (tools: ToolInfo[]): string =>
  derivePoolToken({ tier: 'tools', kind: 'tools', formats: ['tools'], models: [], tools });

const pool = (tools: ToolInfo[], workers: WorkerFacts[], tier: LivePool['tier'] = 'tools'): LivePool => {
  const withSlots = workers.map((worker) => ({ slots: 4, ...worker }));
  return livePool({ tier, pool: token(tools), tools }, withSlots);
};

const all = readToolPermits({ tools: undefined });
const nobody = new Set<string>();

describe('the lanes of a tool', () => {
  const busy = pool([tool('a'), tool('b')], [{ id: 'w1', busy: 3 }]);
  const free = pool([tool('a')], [{ id: 'w2' }]);

  it('are those of the pools that have it, most free slots first', () => {
    expect(chooseToolLanes('a', [busy, free], nobody, all)).toEqual([
      { pool: free, model: 'a' },
      { pool: busy, model: 'a' },
    ]);
    expect(chooseToolLanes('b', [busy, free], nobody, all)).toEqual([{ pool: busy, model: 'b' }]);
    expect(chooseToolLanes('c', [busy, free], nobody, all)).toEqual([]);
  });

  it('leave out pools without the tools format', () => {
    const other = livePool({ tier: 'tools', pool: 'other', formats: ['chat'], tools: [tool('a')] }, [{ id: 'w3' }]);
    expect(chooseToolLanes('a', [other], nobody, all)).toEqual([]);
  });

  it('leave out pools that take no jobs, and workers to be avoided', () => {
    expect(chooseToolLanes('a', [pool([tool('a')], [{ id: 'w', accepting: false }])], nobody, all)).toEqual([]);
    expect(chooseToolLanes('a', [free], new Set(['w2']), all)).toEqual([]);
  });
});

it('the pool of a worker differs for different tools', () => {
  const tokens = [[], [tool('a')], [tool('b')], [tool('a', 'other')]].map((tools) => token(tools));
  expect(new Set([...tokens, token([{ ...tool('a'), title: 'A' }])]).size).toBe(5);
  expect(token([tool('a'), tool('b')])).toBe(token([tool('b'), tool('a')]));
});

it('the list of tools has every tool once, sorted by name, with the worker that started first', () => {
  const older = ['w3', 'w1'].map((id) => ({ id, startedAt: 1 }));
  const pools = [
    pool([tool('b', 'younger'), tool('c')], [{ id: 'w2', startedAt: 2 }]),
    pool([tool('b', 'older'), tool('a')], older),
    pool([tool('d')], [{ id: 'w4', accepting: false }]),
    pool([tool('e')], [{ id: 'w5' }], 'gpu'),
  ];
  const listed = listTools(pools, all).map(({ name, description, worker }) => `${name} ${description} ${worker}`);
  expect(listed).toEqual(['a  w1', 'b older w1', 'c  w2']);
});

describe("a key's list of tools", () => {
  const find = { ...tool('find'), server: 'my wiki' };
  const dotted = { ...tool('notes_read'), givenName: 'notes.read', server: 'notes' };
  const pools = [pool([tool('a'), find, dotted], [{ id: 'w1' }])];
  const listed = (...tools: string[]) => listTools(pools, readToolPermits({ tools })).map(({ name }) => name);

  it('permits tools by either name, and all of a server', () => {
    expect(listed('a', 'gone')).toEqual(['a']);
    expect(listed('notes.read')).toEqual(['notes_read']);
    expect(listed('notes_read')).toEqual(['notes_read']);
    expect(listed('my wiki/*', 'a')).toEqual(['a', 'find']);
    expect(listed('*', 'find/*', 'A')).toEqual([]);
  });

  it('denies all others, and recognizes those of a lost worker by their names only', () => {
    const denied = (called: string, ...tools: string[]) => isToolDenied(readToolPermits({ tools }), called, pools);
    expect(denied('a', 'find')).toBe(true);
    expect(denied('find', 'find')).toBe(false);
    expect(denied('notes.read', 'notes_read')).toBe(false);
    expect(denied('gone', 'find')).toBe(true);
    expect(denied('gone', 'gone')).toBe(false);
    expect(denied('gone', 'my wiki/*')).toBe(false);
    expect(denied('a', 'my wiki/*')).toBe(true);
  });

  it('keeps a call from a worker whose tool of that name belongs to another server', () => {
    const other = pool([{ ...tool('find'), server: 'other' }], [{ id: 'w2' }]);
    const lanes = chooseToolLanes('find', [other, ...pools], nobody, readToolPermits({ tools: ['my wiki/*'] }));
    expect(lanes.map((lane) => lane.pool)).toEqual(pools);
  });
});
