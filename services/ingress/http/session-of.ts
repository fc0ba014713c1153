import type { IncomingHttpHeaders } from 'node:http';

/** Headers in which clients name a session: opencode and others, Claude Code, Codex. */
const sessionHeaders = ['x-session-affinity', 'x-claude-code-session-id', 'session-id'];

/** Headers in which they name one agent of a session, which has a conversation of its own: Claude Code, Codex. */
const agentHeaders = ['x-claude-code-agent-id', 'thread-id'];

/** Most characters of a name that count. Those in use are UUIDs. */
const maxLength = 256;

/** The session and agent that a client names in its headers, as one text; undefined if it names no session. */
export function sessionOf(headers: IncomingHttpHeaders): string | undefined {
  const session = firstOf(headers, sessionHeaders);
  return session && `${session}\n${firstOf(headers, agentHeaders) ?? ''}`;
}

function firstOf(headers: IncomingHttpHeaders, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') return value.slice(0, maxLength);
  }
  return undefined;
}
