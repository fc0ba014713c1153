import { describe, expect, it } from 'vitest';
import { sessionOf } from '#services/ingress/http/session-of.ts';

describe("the session in a client's headers", () => {
  it.each([
    ['opencode', { 'x-session-affinity': 'ses_1' }],
    ['Claude Code', { 'x-claude-code-session-id': 'ses_1' }],
    ['Codex', { 'session-id': 'ses_1' }],
  ])('is read as %s names it', (_, headers) => {
    expect(sessionOf(headers)?.name).toBe(sessionOf({ 'x-session-affinity': 'ses_1' })?.name);
  });

  it('differs for each agent of a session', () => {
    const session = { 'x-claude-code-session-id': 's' };
    const sessions = [
      sessionOf(session),
      sessionOf({ ...session, 'x-claude-code-agent-id': 'a' }),
      sessionOf({ ...session, 'x-claude-code-agent-id': 'b' }),
      sessionOf({ 'session-id': 's', 'thread-id': 't' }),
    ];
    expect(new Set(sessions.map((each) => each?.name)).size).toBe(4);
  });

  it('restarts with each window of a Codex thread, and under the same name only in Claude Code', () => {
    const codex = { 'session-id': 's', 'thread-id': 't' };
    const first = sessionOf({ ...codex, 'x-codex-window-id': 't:0' });
    expect(sessionOf({ ...codex, 'x-codex-window-id': 't:1' })).not.toEqual(first);
    expect(first?.restarts).toBe(false);
    expect(sessionOf({ 'x-session-affinity': 's' })?.restarts).toBe(false);
    expect(sessionOf({ 'x-claude-code-session-id': 's' })?.restarts).toBe(true);
  });

  it('is undefined if none is named, or only an agent', () => {
    expect(sessionOf({ host: 'x', 'session-id': '' })).toBeUndefined();
    expect(sessionOf({ 'x-claude-code-agent-id': 'a' })).toBeUndefined();
  });

  it('is read up to 256 characters', () => {
    expect(sessionOf({ 'session-id': 'x'.repeat(10_000) })?.name).toHaveLength(257);
  });
});
