import type OpenAI from 'openai';
import type { Batch } from 'openai/resources/batches';
import { expect } from 'vitest';
import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import { connectRedis } from '#shared/store/redis/connect-redis.ts';
import { createLog } from '#shared/core/log.ts';
import { resultsOf } from './batch-clients.ts';

const admin = { userId: '', isAdmin: true, keyIds: [], teamIds: [] };
const dayMs = 24 * 3_600_000;

export interface ExpectedLines {
  lines: number;
  /** Redis with the ledger, which has only the requests of this batch. */
  redisUrl: string;
  prefix: string;
}

/** Expects that a batch has answered each line, with one result of each and one charge of each. */
export async function expectEachOnce(
  openai: OpenAI,
  batch: Batch,
  { lines, redisUrl, prefix }: ExpectedLines,
): Promise<void> {
  expect(batch.status).toBe('completed');
  expect(batch.request_counts).toEqual({ total: lines, completed: lines, failed: 0 });
  const ids = (await resultsOf(openai, batch.output_file_id)).map(({ custom_id: id }) => id);
  expect(ids).toHaveLength(lines);
  expect(new Set(ids).size).toBe(lines);
  expect(await countLedger(redisUrl, prefix)).toBe(lines);
}

/** Returns the number of requests in the ledger's totals. */
export async function countLedger(redisUrl: string, prefix: string): Promise<number> {
  const log = createLog({ service: 'test', level: 'fatal', format: 'json' });
  const connection = connectRedis(redisUrl, { log, name: 'test' });
  try {
    await connection.whenReady(AbortSignal.timeout(10_000));
    const [from, to] = [Date.now() - dayMs, Date.now() + dayMs];
    const query = { viewer: admin, from, to, step: 'day', by: 'model', filter: {} } as const;
    return (await new UsageReader(connection.redis, `${prefix}:`).readReport(query)).totals.requests;
  } finally {
    connection.close();
  }
}
