import type { Response } from 'express';
import { waitForDrain } from '#shared/core/wait-for-drain.ts';

/** The number of records that are read and written together, unless the file sets `recordsAtOnce`. */
const defaultRecordsAtOnce = 200;

/** Milliseconds after which a client that reads nothing is disconnected. */
const stalledMs = 30_000;

export interface ExportFile<T> {
  type: string;
  /** The name of the file, for example `usage.csv`. */
  name: string;
  /** The text before the first record. */
  head: string;
  /** Returns the text of a record. The first record has the index 0. */
  toText: (each: T, index: number) => string;
  /** The text after the last record. */
  tail: string;
  /** The maximum number of records that are in memory at the same time. Absent: 200. */
  recordsAtOnce?: number;
}

export function jsonFile(name: string): ExportFile<object> {
  return {
    type: 'application/json',
    name,
    head: '[',
    toText: (each, index) => `${index === 0 ? '\n' : ',\n'}${JSON.stringify(each)}`,
    tail: '\n]\n',
  };
}

/** Streams records as a file, no faster than the client reads it. A failure midway closes the connection. */
export async function exportRecords<Stored, Answer>(
  response: Response,
  { type, name, head, toText, tail, recordsAtOnce = defaultRecordsAtOnce }: ExportFile<Answer>,
  records: AsyncIterable<Stored>,
  toAnswers: (records: readonly Stored[]) => Promise<Answer[]>,
): Promise<void> {
  let hasBegun = false;
  let written = 0;
  const write = async (text: string): Promise<void> => {
    if (!hasBegun) {
      response.setHeader('content-type', type);
      response.setHeader('content-disposition', `attachment; filename="${name}"`);
    }
    hasBegun = true;
    if (response.destroyed || response.write(text)) return;
    await waitForDrain(response, stalledMs);
  };
  const flush = async (batch: readonly Stored[]): Promise<void> => {
    let text = hasBegun ? '' : head;
    for (const each of await toAnswers(batch)) text += toText(each, written++);
    await write(text);
  };
  try {
    let batch: Stored[] = [];
    for await (const record of records) {
      batch.push(record);
      if (batch.length < recordsAtOnce) continue;
      await flush(batch);
      batch = [];
      if (response.destroyed) return;
    }
    await flush(batch);
    response.end(tail);
  } catch (error) {
    if (!hasBegun) throw error;
    response.destroy(error instanceof Error ? error : undefined);
  }
}
