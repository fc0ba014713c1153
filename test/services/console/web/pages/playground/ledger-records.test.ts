import { describe, expect, it } from 'vitest';
import {
  createAnswer,
  findCallsWithoutResult,
  computeTokensPerSecond,
  type Turn,
} from '#services/console/web/formats/conversation.ts';
import { addLedgerRecord, findAnswersWithoutRecord } from '#services/console/web/pages/playground/ledger-records.ts';

const answer = (requestId: string, state: 'done' | 'streaming' | 'stopped', cost?: number): Turn => ({
  ...createAnswer('any'),
  state,
  served: { requestId, completionTokens: 5, ...(cost !== undefined && { cost }) },
});

const idsWithoutRecord = (turns: readonly Turn[]): string[] =>
  findAnswersWithoutRecord(turns).map(({ requestId }) => requestId);

describe('the ledger record of an answer', () => {
  it('is read only for finished answers that lack it', () => {
    const turns = [answer('a', 'done', 0), answer('b', 'stopped'), answer('c', 'streaming'), answer('d', 'done')];
    expect(idsWithoutRecord([{ role: 'user', text: '', images: [] }, ...turns])).toEqual(['b', 'd']);
  });

  it('is added only to the answer of its request, and changes no fact from the stream', () => {
    const record = { cost: 0.5, promptTokens: 3, completionTokens: 9 };
    const turns = addLedgerRecord([answer('a', 'done'), answer('b', 'stopped')], 'b', record);
    const other = { served: { requestId: 'a', completionTokens: 5 } };
    expect(turns).toMatchObject([other, { served: { ...record, requestId: 'b', completionTokens: 5 } }]);
    expect(idsWithoutRecord(turns)).toEqual(['a']);
  });
});

describe('an answer', () => {
  it('has a speed from its first token on, unless it came at once', () => {
    expect(computeTokensPerSecond({ completionTokens: 41, firstTokenMs: 100, totalMs: 2_100 })).toBe(20);
    expect(computeTokensPerSecond({ completionTokens: 41, firstTokenMs: 100, totalMs: 101 })).toBeUndefined();
    expect(computeTokensPerSecond({ firstTokenMs: 100, totalMs: 2_100 })).toBeUndefined();
  });

  it('waits for results of its tool calls, unless it was stopped or failed', () => {
    const call = { id: 'c', name: 'add', input: '{"a' };
    const waiting = (state: 'done' | 'stopped' | 'failed') =>
      findCallsWithoutResult([{ ...createAnswer('any'), toolCalls: [call], state }]).length;
    expect([waiting('done'), waiting('stopped'), waiting('failed')]).toEqual([1, 0, 0]);
  });
});
