import type { IncomingHttpHeaders } from 'node:http';
import type { AgentTurn } from '#shared/core/agent-turn.ts';
import type { Purpose } from '#shared/core/purpose.ts';
import type { RequestSigns } from '#shared/formats/request-signs.ts';
import { type ClientProgram, readSessionName } from './client-program.ts';

/** Beginning of the instructions of a request for a summary. */
const compactionStart = 'You are a context summarization agent';

/** Beginning of the instructions of a request for a title. */
const titleStart = 'You are a title generator';

/**
 * opencode. As observed in release 1.18.33, a session of an agent names its parent in `x-parent-session-id`. Requests for the title of a
 * session or for the summary of a long session have no tools, and have instructions for only that task. Agents of opencode start no other
 * agents.
 */
export const opencode: ClientProgram = {
  isSender: ({ 'user-agent': agent }) => agent?.startsWith('opencode/') === true,
  read: (headers, signs) => ({ purpose: readPurpose(headers, signs), agentType: undefined, turn: readTurn(headers) }),
};

function readPurpose(headers: IncomingHttpHeaders, signs: RequestSigns | undefined): Purpose {
  if (signs && !signs.hasOwnTools && signs.instructions.startsWith(compactionStart)) return 'compaction';
  if (signs && !signs.hasOwnTools && signs.instructions.startsWith(titleStart)) return 'auxiliary';
  return headers['x-parent-session-id'] === undefined ? 'main' : 'subagent';
}

function readTurn(headers: IncomingHttpHeaders): AgentTurn | undefined {
  const ownSession = readSessionName(headers['x-session-id']);
  const parentSession = readSessionName(headers['x-parent-session-id']);
  if (ownSession === undefined) return undefined;
  return parentSession === undefined
    ? { program: 'opencode', session: ownSession }
    : { program: 'opencode', session: parentSession, agent: ownSession };
}
