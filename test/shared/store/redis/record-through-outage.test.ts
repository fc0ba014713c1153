import { describe, expect, it } from 'vitest';
import { recordThroughOutage } from '#shared/store/redis/record-through-outage.ts';
import { sealResult } from '#shared/accounts/batches/line-result.ts';
import { createStoreUnavailableError } from '#shared/store/redis/call-redis.ts';
import { openRunningBatch } from '../../../helpers/batches/open-batch.ts';

const use = { promptTokens: 1, cachedTokens: 0, completionTokens: 2, reasoningTokens: 0, cost: 3 };
const stopping = new AbortController().signal;

/** Opens a batch, and runners that execute its first line, each with a result of its own. */
async function running() {
  const { id, sealer, work, ledger, found } = await openRunningBatch();
  const runner = async () => {
    const result = await sealResult({ outcome: 'succeeded', text: '{}' }, sealer);
    return () => work.recordLine({ id, slice: 0, line: 0 }, result, use, ledger.createEntry([]));
  };
  return { runner, found };
}

describe('a result whose recording fails with the connection', () => {
  it('counts for the runner that recorded it, although the answer was lost', async () => {
    const { runner, found } = await running();
    const record = await runner();
    let calls = 0;
    const losing = async (): Promise<boolean> => {
      const isFirst = await record();
      calls += 1;
      if (calls === 1) throw createStoreUnavailableError('the answer was lost');
      return isFirst;
    };
    expect(await recordThroughOutage(losing, stopping)).toBe(true);
    expect(calls).toBe(2);
    expect(await found()).toMatchObject({ succeeded: 1, completionTokens: 2, cost: 3 });
  });

  it('does not count for a runner whose call was lost while another runner recorded its own', async () => {
    const { runner, found } = await running();
    const [record, other] = [await runner(), await runner()];
    let calls = 0;
    const losing = async (): Promise<boolean> => {
      calls += 1;
      if (calls > 1) return record();
      expect(await other()).toBe(true);
      throw createStoreUnavailableError('the call was lost');
    };
    expect(await recordThroughOutage(losing, stopping)).toBe(false);
    expect(await found()).toMatchObject({ succeeded: 1, completionTokens: 2, cost: 3 });
  });
});
