import { expect, it } from 'vitest';
import { readSession } from '#services/ingress/http/read-session.ts';
import { detectPurpose } from '#services/ingress/routing/purpose/detect-purpose.ts';
import { parametersOf, purposeOf, recordedRequests } from '../../../../helpers/clients/recorded-requests.ts';

const recorded = recordedRequests('codex');

it.each([
  ['a turn', 'main'],
  ['a turn of an agent', 'subagent'],
  ['a review', 'subagent'],
  ['the writing of memories', 'auxiliary'],
  ['a review of an approval', 'auxiliary'],
  ['a compaction', 'compaction'],
  ['a compaction by a trigger', 'compaction'],
  ['the first turn after a compaction', 'main'],
])('a request of Codex %s is known as %s', (name, purpose) => {
  expect(purposeOf(recorded.get(name))).toEqual({ purpose, agentType: undefined });
});

it.each([
  ['an agent of a later release', { 'x-openai-subagent': 'gardener' }, 'subagent'],
  ['a compaction of an earlier release', { 'x-openai-subagent': 'compact' }, 'compaction'],
  ['the consolidation of memories', { 'x-openai-subagent': 'memory_consolidation' }, 'auxiliary'],
  ['the writing of memories', { 'x-openai-memgen-request': 'true' }, 'auxiliary'],
  ['metadata that is no JSON', { 'x-codex-turn-metadata': '{' }, 'main'],
  ['a kind of a later release', { 'x-codex-turn-metadata': '{"request_kind":"dream"}' }, 'main'],
])('a request of Codex with %s in its headers is known', (_, headers, purpose) => {
  expect(detectPurpose({ originator: 'codex_exec', ...headers }, undefined).purpose).toBe(purpose);
});

it('a request of Codex whose body triggers a compaction is a compaction, whatever its headers say', () => {
  const request = recorded.get('a compaction by a trigger');
  expect(request && detectPurpose({}, parametersOf(request)?.signs).purpose).toBe('compaction');
});

it('a request of Codex has another affinity after a compaction, because its prompt is a new one', () => {
  const session = (name: string) => readSession(recorded.get(name)?.headers ?? {});
  expect(session('a compaction')).toEqual(session('a turn'));
  expect(session('the first turn after a compaction')).not.toEqual(session('a turn'));
});

it('a request of Codex names the session, the agent in it and the prompt', () => {
  const program = 'codex';
  const turn = (name: string) => detectPurpose(recorded.get(name)?.headers ?? {}, undefined).turn;
  const main = { session: '01a20ca2-7192-7d61-a811-d0f411b416ab', prompt: '01a20ca2-71b1-7150-9679-6e9b10aa279b' };
  expect(turn('a turn')).toEqual({ program, ...main });
  const session = '01a20ca2-0505-7f01-b0a3-72be2a834d74';
  const agent = { agent: '01a20ca2-0648-7e01-98e1-5b62d0b97022', parent: undefined, type: 'collab_spawn' };
  const prompt = '01a20ca2-0590-7800-8f46-b8481ea5320a';
  expect(turn('a turn of an agent')).toEqual({ program, session, ...agent, prompt });
  const deeper = { ...recorded.get('a turn of an agent')?.headers, 'x-codex-parent-thread-id': 'another-agent' };
  expect(detectPurpose(deeper, undefined).turn?.parent).toBe('another-agent');
  expect(turn('a compaction')?.session).toBe(turn('a turn')?.session);
  expect(detectPurpose({ originator: 'codex_exec' }, undefined).turn).toBeUndefined();
});
