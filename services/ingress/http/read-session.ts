import type { IncomingHttpHeaders } from 'node:http';
import type { NamedSession } from '#shared/serving/compute-affinity.ts';

/**
 * Headers in which clients name an agent session: the header of opencode and others, of Claude Code, and of Codex. The first header that is
 * present counts.
 */
const sessionHeaders = ['x-session-affinity', 'x-claude-code-session-id', 'session-id'];

/** Header of the client whose sessions keep their name after a compaction. */
const restartingHeader = 'x-claude-code-session-id';

/**
 * Headers in which clients name one agent of a session, which has its own conversation. The first header is sent by Claude Code, the others
 * are sent by Codex. Codex also numbers the windows of a thread, and each compaction begins a new window.
 */
const agentHeaders = ['x-claude-code-agent-id', 'x-codex-window-id', 'thread-id'];

/** Number of characters after which a name is cut off. Clients use UUIDs as names. */
const maxLength = 256;

/** Returns the session and agent that a client names in its headers; undefined if it names no session. */
export function readSession(headers: IncomingHttpHeaders): NamedSession | undefined {
  const session = findFirstHeader(headers, sessionHeaders);
  if (!session) return undefined;
  const agent = findFirstHeader(headers, agentHeaders);
  return { name: `${session.value}\n${agent?.value ?? ''}`, mayRestart: session.header === restartingHeader };
}

function findFirstHeader(
  headers: IncomingHttpHeaders,
  names: readonly string[],
): { header: string; value: string } | undefined {
  for (const header of names) {
    const value = headers[header];
    if (typeof value === 'string' && value !== '') return { header, value: value.slice(0, maxLength) };
  }
  return undefined;
}
