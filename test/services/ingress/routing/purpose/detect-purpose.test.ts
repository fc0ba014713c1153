import { expect, it } from 'vitest';
import { detectPurpose } from '#services/ingress/routing/purpose/detect-purpose.ts';
import { parametersOf, recordedRequests } from '../../../../helpers/clients/recorded-requests.ts';

it('the purpose of a request is what its client says in a header, unless that is not a purpose', () => {
  const turn = recordedRequests('opencode').get('a turn')?.headers;
  const told = (purpose: string, headers = {}) =>
    detectPurpose({ ...headers, 'x-rtr-purpose': purpose }, undefined).purpose;
  expect([told('auxiliary'), told('workflow', turn)]).toEqual(['auxiliary', 'workflow']);
  expect([told('gardening'), told('gardening', turn)]).toEqual([undefined, 'main']);
});

it('the purpose of a request is unknown for an unknown client, whatever its body looks like', () => {
  for (const program of ['claude-code', 'opencode']) {
    const title = recordedRequests(program).get('a title');
    const read = title && detectPurpose({ 'user-agent': 'curl/8' }, parametersOf(title)?.signs);
    expect(read).toEqual({ purpose: undefined, agentType: undefined });
  }
});

it('the purpose of a request is a compaction if the format says so, whoever sends it', () => {
  const signs = { instructions: '', lastText: '', hasOwnTools: false, cachesInstructions: false, isCompaction: true };
  expect(detectPurpose({}, signs).purpose).toBe('compaction');
});

it('the session of a request has the name that any client gives it in a header, if its program names none', () => {
  const other = { program: 'other', session: 'nightly.42' };
  expect(detectPurpose({ 'x-rtr-session': 'nightly.42' }, undefined).turn).toEqual(other);
  const headers = { 'x-claude-code-session-id': 'its-own', 'x-rtr-session': 'nightly.42' };
  expect(detectPurpose(headers, undefined).turn).toMatchObject({ program: 'claude-code', session: 'its-own' });
  const unnamed = { 'user-agent': 'opencode/2', 'x-rtr-session': 'nightly.42' };
  expect(detectPurpose(unnamed, undefined).turn).toMatchObject(other);
});

it('the session of a request does not exist if the header has no valid name', () => {
  expect(detectPurpose({ 'x-rtr-session': 'two words' }, undefined).turn).toBeUndefined();
  expect(detectPurpose({}, undefined).turn).toBeUndefined();
});
