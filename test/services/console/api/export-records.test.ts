import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { Response } from 'express';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import { exportRecords } from '#services/console/api/export-records.ts';
import type { UsageRequest } from '#services/console/contract/usage.ts';
import { ledgerRecord } from '../../../helpers/accounts/ledger-record.ts';
import { serveInTest } from '../../../helpers/servers/serve-http.ts';
import { usageFile } from '#services/console/api/usage/usage-operations.ts';

const record = ledgerRecord({ id: 'r', key: { id: 'k1', name: 'x'.repeat(200) } });

/** A server that exports so many requests; `seen` is called before each, `named` with how many are given names at once. */
async function openExport(
  count: number,
  seen: (response: ServerResponse) => void,
  { recordsAtOnce, named }: { recordsAtOnce?: number; named?: (count: number) => void } = {},
) {
  const file = { ...usageFile.json, ...(recordsAtOnce !== undefined && { recordsAtOnce }) };
  const ended = Promise.withResolvers<void>();
  const url = await serveInTest((_, response) => {
    async function* records(): AsyncGenerator<UsageRecord> {
      for (let index = 0; index < count; index += 1) {
        seen(response);
        yield record;
      }
    }
    const answers = async (some: readonly UsageRecord[]): Promise<UsageRequest[]> => {
      named?.(some.length);
      return [...some] as UsageRequest[];
    };
    exportRecords(response as Response, file, records(), answers).then(ended.resolve, ended.reject);
  });
  return { url, ended: ended.promise };
}

describe('an export', () => {
  it('leaves no listeners behind, however often the client is slow', async () => {
    let most = 0;
    const { url } = await openExport(20_000, (response) => {
      most = Math.max(most, response.listenerCount('close'));
    });
    const answer = await fetch(url);
    expect(await answer.json()).toHaveLength(20_000);
    expect(most).toBeLessThan(5);
  });

  it('has no more records in memory than its format allows', async () => {
    const unnamed: number[] = [];
    let read = 0;
    const seen = (): void => {
      read += 1;
      unnamed.push(read);
    };
    const { url } = await openExport(7, seen, { recordsAtOnce: 2, named: (count) => (read -= count) });
    expect(await (await fetch(url)).json()).toHaveLength(7);
    expect(unnamed).toEqual([1, 2, 1, 2, 1, 2, 1]);
  });

  it('is aborted when the client reads nothing for half a minute', async () => {
    let current: ServerResponse | undefined;
    let count = 0;
    const { url, ended } = await openExport(Number.POSITIVE_INFINITY, (response) => {
      current = response;
      count += 1;
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const client = connect(Number(new URL(url).port), '127.0.0.1').pause();
    onTestFinished(() => void client.destroy());
    client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    // Until the kernel's buffer is full.
    for (let still = 0, before = -1; still < 5_000; before = count) {
      await new Promise((resolve) => setImmediate(resolve));
      still = count === before && count > 0 ? still + 1 : 0;
    }
    vi.advanceTimersByTime(30_000);
    await ended;
    expect(current?.destroyed).toBe(true);
  });
});
