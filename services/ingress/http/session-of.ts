import type { IncomingHttpHeaders } from 'node:http';
import type { NamedSession } from '#shared/serving/affinity-of.ts';

/** Headers in which clients name a session: opencode and others, Claude Code, Codex. */
const sessionHeaders = ['x-session-affinity', 'x-claude-code-session-id', 'session-id'];

/** The one whose sessions go on under the same name after a compaction. */
const restartingHeader = 'x-claude-code-session-id';

/**
 * Headers in which they name one agent of a session, which has a conversation of its own: Claude Code, Codex. Codex numbers the
 * windows of a thread as well: each compaction begins a new one.
 */
const agentHeaders = ['x-claude-code-agent-id', 'x-codex-window-id', 'thread-id'];

/** Most characters of a name that count. Those in use are UUIDs. */
const maxLength = 256;

/** The session and agent that a client names in its headers; undefined if it names no session. */
export function sessionOf(headers: IncomingHttpHeaders): NamedSession | undefined {
  const session = firstOf(headers, sessionHeaders);
  if (!session) return undefined;
  const agent = firstOf(headers, agentHeaders);
  return { name: `${session.value}\n${agent?.value ?? ''}`, restarts: session.header === restartingHeader };
}

function firstOf(
  headers: IncomingHttpHeaders,
  names: readonly string[],
): { header: string; value: string } | undefined {
  for (const header of names) {
    const value = headers[header];
    if (typeof value === 'string' && value !== '') return { header, value: value.slice(0, maxLength) };
  }
  return undefined;
}
