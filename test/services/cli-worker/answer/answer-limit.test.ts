import { array, assert, constantFrom, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnswerLimit } from '#services/cli-worker/answer/answer-limit.ts';

/** Returns the text that a client gets. */
function limit(pieces: string[], limits: { maxTokens?: number; stop?: string[] }): { text: string; ended?: string } {
  const answer = new AnswerLimit({ maxTokens: limits.maxTokens, stop: limits.stop ?? [] });
  const parts = pieces.flatMap((text) => answer.push({ kind: 'text', text }));
  const text = [...parts, ...answer.end()].map((part) => (part.kind === 'call' ? '' : part.text)).join('');
  return answer.reachedLimit === undefined ? { text } : { text, ended: answer.reachedLimit };
}

describe('an answer with limits', () => {
  it('ends before a stop text, wherever the pieces are cut', () => {
    assert(
      property(array(constantFrom('a', 'ab', 'b', 'abc', 'x', 'STO', 'P', 'S')), (pieces) => {
        const whole = pieces.join('');
        const at = Math.min(...['STOP', 'bcS'].map((stop) => whole.indexOf(stop)).filter((found) => found !== -1));
        const { text, ended } = limit(pieces, { stop: ['STOP', 'bcS'] });
        expect(text).toBe(whole.slice(0, at));
        expect(ended).toBe(Number.isFinite(at) ? 'stop' : undefined);
      }),
    );
  });

  it('ends at the token limit, with whole characters', () => {
    expect(limit(['12345', '67890'], { maxTokens: 2 })).toEqual({ text: '12345678', ended: 'length' });
    expect(limit(['ab', '€€'], { maxTokens: 1 })).toEqual({ text: 'ab', ended: 'length' });
    expect(limit(['1234', '5678'], { maxTokens: 2 })).toEqual({ text: '12345678' });
  });

  it('counts calls of tools, and drops a call that exceeds the limit', () => {
    const call = { kind: 'call' as const, index: 0, id: 'call_1', name: 'f', arguments: '{"a":1}' };
    const answer = new AnswerLimit({ maxTokens: 3, stop: ['END'] });
    expect(answer.push({ kind: 'text', text: 'E' })).toEqual([]);
    expect(answer.push(call)).toEqual([{ kind: 'text', text: 'E' }, call]);
    expect(answer.reachedLimit).toBeUndefined();
    expect(answer.push(call)).toEqual([]);
    expect(answer.reachedLimit).toBe('length');
  });

  it('shows text before thinking that comes after it', () => {
    const answer = new AnswerLimit({ stop: ['END'] });
    expect(answer.push({ kind: 'text', text: 'the E' })).toEqual([{ kind: 'text', text: 'the ' }]);
    expect(answer.push({ kind: 'thinking', text: 'hm' })).toEqual([
      { kind: 'text', text: 'E' },
      { kind: 'thinking', text: 'hm' },
    ]);
  });
});
