import { describe, expect, it } from 'vitest';
import { readSession } from '#services/ingress/http/read-session.ts';
import { detectPurpose } from '#services/ingress/routing/purpose/detect-purpose.ts';
import { made } from '../../../../helpers/accounts/made.ts';
import { computeAffinity } from '#shared/serving/compute-affinity.ts';
import { parametersOf, purposeOf, recordedRequests } from '../../../../helpers/clients/recorded-requests.ts';

const plain = recordedRequests('claude-code');
const hinted = recordedRequests('claude-code-hints');

describe('a request of Claude Code', () => {
  it.each<[string, string, string?]>([
    ['a turn', 'main'],
    ['a turn of an agent', 'subagent', 'Explore'],
    ['a turn of an agent of a workflow', 'workflow', 'workflow-subagent'],
    ['a title', 'auxiliary'],
    ['a web search', 'auxiliary'],
    ['a compaction', 'compaction'],
    ['the first turn after a compaction', 'main'],
  ])('%s is for %s, with hint headers or without', (name, purpose, agentType) => {
    expect(purposeOf(plain.get(name))).toEqual({ purpose, agentType: undefined });
    expect(purposeOf(hinted.get(name))).toEqual({ purpose, agentType });
  });

  it.each(['with a web search to come', 'after a web search', 'without tools', 'without a cache'])(
    'a turn %s is for main, without hint headers',
    (turn) => {
      expect(purposeOf(plain.get(`a turn ${turn}`))).toEqual({ purpose: 'main', agentType: undefined });
    },
  );

  // In auto mode: the shape of both stages, as in published logs; only the first has a stop text.
  it.each([
    ['quick', { max_tokens: 2_112, stop_sequences: ['</block>'] }, []],
    ['thorough', { max_tokens: 10_240 }, []],
    [
      'quick and signed in',
      { max_tokens: 2_112 },
      ['x-anthropic-billing-header: cc_version=2.1;', 'You are an agent.'],
    ],
  ])('that judges a tool call is auxiliary: the %s look', (_, fields, before) => {
    const text = (line: string) => ({ type: 'text', text: line });
    const cached = (line: string) => ({ ...text(line), cache_control: { type: 'ephemeral' } });
    const monitor = 'You are a security monitor for autonomous AI coding agents.';
    const begin = cached(`${monitor}\n\n## Context\n\nThe agent you are monitoring`);
    const system = [...before.map(text), begin, text('\n\n## Session Context\n')];
    const content = [text('<transcript>\n'), cached('Bash ls'), text('</transcript>\n')];
    const body = { model: 'sonnet', ...fields, system, messages: [{ role: 'user', content }] };
    const headers = { 'x-claude-code-session-id': '5cbe8f72-b4ad-4b37-8a03-2bfe84487e37' };
    const ofAgent = { ...headers, 'x-claude-code-agent-id': 'a508776593730a593' };
    for (const sent of [headers, ofAgent])
      expect(purposeOf({ path: '/v1/messages', headers: sent, body }).purpose).toBe('auxiliary');
  });

  it('is for what its header says, whatever its body looks like', () => {
    const title = made(hinted.get('a title'));
    const headers = { ...title.headers, 'x-claude-code-request-class': 'workflow' };
    expect(purposeOf({ ...title, headers }).purpose).toBe('workflow');
  });

  it('with the class of a later release is recognized by its signs', () => {
    const later = { 'x-claude-code-request-class': 'side_reply' };
    const purposes = ['a turn', 'a title', 'a turn of an agent'].map((name) => {
      const request = made(plain.get(name));
      return purposeOf({ ...request, headers: { ...request.headers, ...later } }).purpose;
    });
    expect(purposes).toEqual(['main', 'auxiliary', 'subagent']);
  });

  it('to count tokens has no purpose except the one in its headers', () => {
    const title = plain.get('a title');
    const { max_tokens: _, ...body } = (title?.body ?? {}) as Record<string, unknown>;
    const counted = parametersOf({ path: '/v1/messages/count_tokens', headers: {}, body });
    expect(counted).toMatchObject({ signs: undefined });
    expect(detectPurpose({ ...title?.headers }, counted?.signs).purpose).toBe('main');
  });
});

describe('the session of a request of Claude Code', () => {
  const turnOf = (headers: Record<string, string>) => detectPurpose(headers, undefined).turn;
  const session = '68b864d5-9161-4ae0-a03f-518a83794bc9';

  it('is that of its header, with the agent, its kind and the prompt', () => {
    const agent = { agent: 'a508776593730a593', type: 'Explore', prompt: '72be1263-d532-458d-a09a-8d06d778df24' };
    const turn = turnOf(hinted.get('a turn of an agent')?.headers ?? {});
    expect(turn).toEqual({ program: 'claude-code', session, ...agent });
    const other = { session: 'c88ff71c-c5f5-4071-83fa-a912e58ece46', agent: 'a68d367ef1b14618a' };
    expect(turnOf(plain.get('a turn of an agent')?.headers ?? {})).toMatchObject(other);
    expect(turnOf(plain.get('a turn')?.headers ?? {})?.agent).toBeUndefined();
  });

  it('has the times of the preceding tools, without those that start agents', () => {
    const times = (header: string) =>
      turnOf({ 'x-claude-code-session-id': session, 'x-claude-code-prev-tool-durations': header })?.tools;
    const longest = Object.entries({ Bash: 742, Read: 9, 'mcp__a b': 5 }).map(([name, ms]) => ({ name, ms }));
    expect(times('Bash=742;Read=9;Agent=60000;mcp__a%20b=5')).toEqual({ ms: 756, longest });
    expect(times('Read=-1;=5;%=3;Bash=x;Write=1e3;no')).toBeUndefined();
    expect(times('Bash=999999999')).toEqual({ ms: 86_400_000, longest: [{ name: 'Bash', ms: 86_400_000 }] });
    const many = times(Array.from({ length: 40 }, (_, index) => `T${index}=${index + 1}`).join(';'));
    expect(many?.ms).toBe((32 * 33) / 2);
    expect(many?.longest).toHaveLength(8);
    expect(many?.longest[0]).toEqual({ name: 'T31', ms: 32 });
  });

  it('with an invalid name does not exist, and the request is served', () => {
    for (const name of ['', 'a b', 'x'.repeat(129), 'é', 'a/b'])
      expect(detectPurpose({ 'x-claude-code-session-id': name }, undefined)).toEqual({ purpose: 'main' });
    const odd = { 'x-claude-code-agent-id': '{}', 'x-claude-code-agent-type': '<b>', 'x-claude-code-prompt-id': ' ' };
    expect(turnOf({ 'x-claude-code-session-id': session, ...odd })).toEqual({ program: 'claude-code', session });
  });
});

describe('the affinity of a session of Claude Code', () => {
  const affinities = (requests: typeof plain, ...names: string[]): number[] =>
    names.map((name) => {
      const request = made(requests.get(name));
      const conversation = made(parametersOf(request)?.conversation);
      return computeAffinity({ id: 'key', ownerId: 'alice' }, readSession(request.headers), conversation);
    });

  it.each([
    ['without', plain],
    ['with', hinted],
  ])('is replaced at a compaction, and stays the same from then on: %s hint headers', (_, requests) => {
    const [turn, compaction, first, second] = affinities(
      requests,
      'a turn',
      'a compaction',
      'the first turn after a compaction',
      'the second turn after a compaction',
    );
    expect(compaction).toBe(turn);
    expect(first).not.toBe(turn);
    expect(second).toBe(first);
    expect(affinities(requests, 'a title')[0]).not.toBe(turn);
  });

  it('stays while the conversation goes on', () => {
    const [before, after] = affinities(plain, 'a turn with a web search to come', 'a turn after a web search');
    expect(after).toBe(before);
  });
});
