import { once } from 'node:events';
import type { Response } from 'express';

/** If records are small, this many are written together, after their names were looked up together. */
const defaultAtOnce = 200;

/** Milliseconds after which a client that reads nothing is disconnected. */
const stalledMs = 30_000;

export interface ExportFile<T> {
  type: string;
  /** The name of the file, for example `usage.csv`. */
  name: string;
  head: string;
  piece: (each: T, index: number) => string;
  tail: string;
  /** The number of records that are in memory at the same time; absent: 200. */
  atOnce?: number;
}

export function jsonFile(name: string): ExportFile<object> {
  return {
    type: 'application/json',
    name,
    head: '[',
    piece: (each, index) => `${index === 0 ? '\n' : ',\n'}${JSON.stringify(each)}`,
    tail: '\n]\n',
  };
}

/** Streams records as a file, no faster than the client reads it. A failure midway closes the connection. */
export async function exportRecords<Stored, Answer>(
  response: Response,
  { type, name, head, piece, tail, atOnce = defaultAtOnce }: ExportFile<Answer>,
  records: AsyncIterable<Stored>,
  toAnswers: (records: readonly Stored[]) => Promise<Answer[]>,
): Promise<void> {
  let begun = false;
  let written = 0;
  const write = async (text: string): Promise<void> => {
    if (!begun) {
      response.setHeader('content-type', type);
      response.setHeader('content-disposition', `attachment; filename="${name}"`);
    }
    begun = true;
    if (response.destroyed || response.write(text)) return;
    await waitForDrain(response);
  };
  const flush = async (batch: readonly Stored[]): Promise<void> => {
    let text = begun ? '' : head;
    for (const each of await toAnswers(batch)) text += piece(each, written++);
    await write(text);
  };
  try {
    let batch: Stored[] = [];
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

/** Waits until a response accepts more data or is closed. Closes it when its client reads nothing for `stalledMs`. */
async function waitForDrain(response: Response): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  const timer = setTimeout(() => response.destroy(), stalledMs);
  try {
    await Promise.race([once(response, 'drain', { signal }), once(response, 'close', { signal })]);
  } finally {
    clearTimeout(timer);
    over.abort();
  }
}
