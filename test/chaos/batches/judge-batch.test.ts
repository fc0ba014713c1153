import { expect, it } from 'vitest';
import type { ResultLine } from '../../helpers/batches/batch-clients.ts';
import type { LedgerEntry } from '../oracle/judge-ledger.ts';
import { judgeBatch } from './judge-batch.ts';

const result = (id: string, text = `You said ${id}.`, status = 200): ResultLine => {
  const response = { status_code: status, request_id: `request-${id}`, body: { text } };
  return { id: `result-${id}`, custom_id: id, response, error: null };
};
const recorded = { outcome: 'done', completionTokens: 3, attempts: 1 } as const;
const entry = (id: string): LedgerEntry => ({ id: `request-${id}`, ...recorded });
const ids = ['a', 'b'];
const results = ids.map((id) => result(id));
const entries = ids.map(entry);
const found = (change: Partial<Parameters<typeof judgeBatch>[0]>): string[] =>
  judgeBatch({ ids, results, entries, ...change }).map(({ rule, id, detail }) => `${rule}: ${id} ${detail}`);

it('the judge of batches accepts a batch with every line and every charge once', () => {
  expect(found({})).toEqual([]);
});

it('the judge of batches finds a line without a result, with two, with an error or with the answer of another line', () => {
  const foundIn = (...all: ResultLine[]): string => found({ results: all }).join();
  expect(foundIn(result('b'))).toBe('batch: a 0 results');
  expect(foundIn(...results, result('b'))).toBe('batch: b 2 results');
  expect(foundIn(result('a'), result('b', 'You said a.'))).toBe('batch: b the answer of another line');
  expect(foundIn(result('a'), result('b', 'b.', 503))).toMatch(/^batch: b no answer/);
  expect(foundIn(...results, result('c'))).toBe('batch: c a result without a line');
});

it('the judge of batches finds a line without a charge, and one with two', () => {
  const ofA = ['batch: a 0 records in the ledger', 'ledger: batch 1 records of 2 lines'];
  expect(found({ entries: entries.slice(1) })).toEqual(ofA);
  const ofB = ['batch: b 2 records in the ledger', 'ledger: batch 3 records of 2 lines'];
  expect(found({ entries: [...entries, entry('b')] })).toEqual(ofB);
});
