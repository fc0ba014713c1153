import { describe, expect, it } from 'vitest';
import { detectPurpose } from '#services/ingress/routing/purpose/detect-purpose.ts';
import { parametersOf, recordedRequests } from '../../../../helpers/clients/recorded-requests.ts';

describe('the purpose of a request', () => {
  it('is what its client says in a header', () => {
    expect(detectPurpose({ 'x-rtr-purpose': 'auxiliary' }, undefined).purpose).toBe('auxiliary');
    const turn = recordedRequests('opencode').get('a turn');
    expect(detectPurpose({ ...turn?.headers, 'x-rtr-purpose': 'workflow' }, undefined).purpose).toBe('workflow');
  });

  it('is not what the header says if that is not a purpose', () => {
    expect(detectPurpose({ 'x-rtr-purpose': 'gardening' }, undefined).purpose).toBeUndefined();
    const turn = recordedRequests('opencode').get('a turn');
    expect(detectPurpose({ ...turn?.headers, 'x-rtr-purpose': 'gardening' }, undefined).purpose).toBe('main');
  });

  it('is unknown for an unknown client, whatever its body looks like', () => {
    for (const program of ['claude-code', 'opencode']) {
      const title = recordedRequests(program).get('a title');
      const read = title && detectPurpose({ 'user-agent': 'curl/8' }, parametersOf(title)?.signs);
      expect(read).toEqual({ purpose: undefined, agentType: undefined });
    }
  });

  it('is a compaction if the format says so, whoever sends it', () => {
    const signs = { instructions: '', lastText: '', hasOwnTools: false, cachesInstructions: false, isCompaction: true };
    expect(detectPurpose({}, signs).purpose).toBe('compaction');
  });
});

describe('the session of a request', () => {
  it('has the name that any client gives it in a header, if its program names none', () => {
    const other = { program: 'other', session: 'nightly.42' };
    expect(detectPurpose({ 'x-rtr-session': 'nightly.42' }, undefined).turn).toEqual(other);
    const headers = { 'x-claude-code-session-id': 'its-own', 'x-rtr-session': 'nightly.42' };
    expect(detectPurpose(headers, undefined).turn).toMatchObject({ program: 'claude-code', session: 'its-own' });
    const unnamed = { 'user-agent': 'opencode/2', 'x-rtr-session': 'nightly.42' };
    expect(detectPurpose(unnamed, undefined).turn).toMatchObject(other);
  });

  it('does not exist if the header has no valid name', () => {
    expect(detectPurpose({ 'x-rtr-session': 'two words' }, undefined).turn).toBeUndefined();
    expect(detectPurpose({}, undefined).turn).toBeUndefined();
  });
});
