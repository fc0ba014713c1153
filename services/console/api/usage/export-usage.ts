import { once } from 'node:events';
import type { Response } from 'express';
import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import type { UsageRequest } from '../../contract/usage.ts';

/** Requests that are given names and written at once. */
const atOnce = 200;

/** Milliseconds without progress after which a client that does not read is disconnected. */
const unreadMs = 30_000;

type CsvCell = string | number | undefined;

/** The columns of the CSV file. */
const columns: Record<string, (request: UsageRequest) => CsvCell> = {
  id: ({ id }) => id,
  at: ({ at }) => new Date(at).toISOString(),
  key_id: ({ key }) => key.id,
  key_name: ({ key }) => key.name,
  owner_kind: ({ owner }) => owner?.kind,
  owner_id: ({ owner }) => owner?.id,
  owner_name: ({ owner }) => owner?.name,
  format: ({ format }) => format,
  operation: ({ operation }) => operation,
  asked: ({ asked }) => asked,
  model: ({ model }) => model,
  tier: ({ tier }) => tier,
  worker: ({ worker }) => worker,
  outcome: ({ outcome }) => outcome,
  code: ({ code }) => code,
  attempts: ({ attempts }) => attempts,
  queue_ms: ({ queueMs }) => queueMs,
  first_token_ms: ({ firstTokenMs }) => firstTokenMs,
  total_ms: ({ totalMs }) => totalMs,
  prompt_tokens: ({ promptTokens }) => promptTokens,
  cached_tokens: ({ cachedTokens }) => cachedTokens,
  completion_tokens: ({ completionTokens }) => completionTokens,
  reasoning_tokens: ({ reasoningTokens }) => reasoningTokens,
  cost_usd: ({ cost }) => cost,
  purpose: ({ purpose }) => purpose,
  rule: ({ rule }) => rule,
  images: ({ images }) => images,
  seconds: ({ seconds }) => seconds,
  characters: ({ characters }) => characters,
};

const formats = {
  csv: {
    type: 'text/csv; charset=utf-8',
    head: csvLine(Object.keys(columns)),
    piece: (request: UsageRequest) => csvLine(Object.values(columns).map((cell) => cell(request))),
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

/** One line of CSV (RFC 4180). */
function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/**
 * Spreadsheets run text that begins like a formula, and users choose names: such text gets an apostrophe before it
 * (OWASP, "CSV Injection").
 */
function csvCell(cell: CsvCell): string {
  if (typeof cell !== 'string') return cell === undefined ? '' : String(cell);
  const escaped = /^[=+\-@\t\r\n＝＋－＠]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n\t]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped;
}
