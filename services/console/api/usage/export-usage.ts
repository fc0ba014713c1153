import { once } from 'node:events';
import type { Response } from 'express';
import { usageCsvHead, usageCsvLine } from '#shared/accounts/ledger/usage-csv.ts';
import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import type { UsageRequest } from '../../contract/usage.ts';

/** Requests that are given names and written at once. */
const atOnce = 200;

/** Milliseconds without progress after which a client that does not read is disconnected. */
const unreadMs = 30_000;

const formats = {
  csv: {
    type: 'text/csv; charset=utf-8',
    head: usageCsvHead,
    piece: (request: UsageRequest) => usageCsvLine(request),
    tail: '',
  },
  json: {
    type: 'application/json',
    head: '[',
    piece: (request: UsageRequest, index: number) => `${index === 0 ? '\n' : ',\n'}${JSON.stringify(request)}`,
    tail: '\n]\n',
  },
};

/** Streams requests as a file, no faster than the client reads it. A failure midway closes the connection. */
export async function exportUsage(
  response: Response,
  format: keyof typeof formats,
  records: AsyncIterable<UsageRecord>,
  toAnswers: (records: readonly UsageRecord[]) => Promise<UsageRequest[]>,
): Promise<void> {
  const { type, head, piece, tail } = formats[format];
  let begun = false;
  let written = 0;
  const write = async (text: string): Promise<void> => {
    if (!begun) {
      response.setHeader('content-type', type);
      response.setHeader('content-disposition', `attachment; filename="usage.${format}"`);
    }
    begun = true;
    if (response.destroyed || response.write(text)) return;
    await drained(response);
  };
  const flush = async (batch: readonly UsageRecord[]): Promise<void> => {
    let text = begun ? '' : head;
    for (const request of await toAnswers(batch)) text += piece(request, written++);
    await write(text);
  };
  try {
    let batch: UsageRecord[] = [];
    for await (const record of records) {
      batch.push(record);
      if (batch.length < atOnce) continue;
      await flush(batch);
      batch = [];
      if (response.destroyed) return;
    }
    await flush(batch);
    response.end(tail);
  } catch (error) {
    if (!begun) throw error;
    response.destroy(error instanceof Error ? error : undefined);
  }
}

/** Waits until a response accepts more or is closed, which happens when its client reads nothing for too long. */
async function drained(response: Response): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  const timer = setTimeout(() => response.destroy(), unreadMs);
  try {
    await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]);
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}
