import { describe, expect, it } from 'vitest';
import { sessionOf } from '#services/ingress/http/session-of.ts';
import { purposeOf } from '#services/ingress/routing/purpose/purpose-of.ts';
import { parametersOf, recordedRequests } from '../../../../helpers/clients/recorded-requests.ts';

const recorded = recordedRequests('codex');

describe('a request of Codex', () => {
  it.each([
    ['a turn', 'main'],
    ['a turn of an agent', 'subagent'],
    ['a review', 'subagent'],
    ['the writing of memories', 'auxiliary'],
    ['a review of an approval', 'auxiliary'],
    ['a compaction', 'compaction'],
    ['a compaction by a trigger', 'compaction'],
    ['the first turn after a compaction', 'main'],
  ])('%s is known as %s', (name, purpose) => {
    const request = recorded.get(name);
    expect(request && purposeOf(request.headers, parametersOf(request)?.signs)).toEqual({
      purpose,
      agentType: undefined,
    });
  });

  it.each([
    ['an agent of a later release', { 'x-openai-subagent': 'gardener' }, 'subagent'],
    ['a compaction of an earlier release', { 'x-openai-subagent': 'compact' }, 'compaction'],
    ['the consolidation of memories', { 'x-openai-subagent': 'memory_consolidation' }, 'auxiliary'],
    ['the writing of memories', { 'x-openai-memgen-request': 'true' }, 'auxiliary'],
    ['metadata that is no JSON', { 'x-codex-turn-metadata': '{' }, 'main'],
    ['a kind of a later release', { 'x-codex-turn-metadata': '{"request_kind":"dream"}' }, 'main'],
  ])('with %s in its headers is known', (_, headers, purpose) => {
    expect(purposeOf({ originator: 'codex_exec', ...headers }, undefined).purpose).toBe(purpose);
  });

  it('whose body triggers a compaction is one, whatever its headers say', () => {
    const request = recorded.get('a compaction by a trigger');
    expect(request && purposeOf({}, parametersOf(request)?.signs).purpose).toBe('compaction');
  });

  it('has another session after a compaction, because its prompt is a new one', () => {
    const session = (name: string) => sessionOf(recorded.get(name)?.headers ?? {});
    expect(session('a compaction')).toEqual(session('a turn'));
    expect(session('the first turn after a compaction')).not.toEqual(session('a turn'));
  });
});
