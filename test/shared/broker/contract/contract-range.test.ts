import { describe, expect, it } from 'vitest';
import { poolOf } from '#shared/broker/contract/announcement.ts';
import { agreedVersion, speaks } from '#shared/broker/contract/contract-range.ts';

const range = (oldest: number, newest: number) => ({ oldest, newest });

describe('two sides of the broker contract', () => {
  it.each([
    [range(1, 1), range(1, 1), 1],
    [range(1, 2), range(1, 1), 1],
    [range(1, 2), range(2, 3), 2],
    [range(1, 3), range(1, 2), 2],
    [range(1, 1), range(2, 3), undefined],
  ])('%j and %j speak version %j', (one, other, version) => {
    expect(agreedVersion(one, other)).toBe(version);
    expect(agreedVersion(other, one)).toBe(version);
    if (version !== undefined) expect(speaks(one, version) && speaks(other, version)).toBe(true);
  });

  it('never share a lane when they speak different versions', () => {
    const facts = { tier: 'gpu' as const, kind: 'vllm', formats: ['chat'], models: [] };
    const pools = [range(1, 1), range(1, 2), range(2, 2)].map((contract) => poolOf({ ...facts, contract }));
    expect(new Set(pools).size).toBe(3);
  });
});
