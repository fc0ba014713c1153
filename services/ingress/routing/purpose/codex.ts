import type { IncomingHttpHeaders } from 'node:http';
import type { AgentTurn } from '#shared/core/agent-turn.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { Purpose } from '#shared/core/purpose.ts';
import { type ClientProgram, readAgentType, readSessionName } from './client-program.ts';

/** Values of `x-openai-subagent` for memories and for reviews of approvals. Other values name agents. */
const backgroundAgents: ReadonlySet<unknown> = new Set(['memory_consolidation', 'guardian']);

/**
 * Codex. As observed in release 0.169.0, it describes each request in `x-codex-turn-metadata`, a JSON object with `request_kind` (`turn`,
 * `compaction`) and `thread_source` (`user`, `subagent`), and names the kind of a started agent in `x-openai-subagent`. Requests that write
 * memories have `x-openai-memgen-request`. Codex does not call `/responses/compact`.
 *
 * A session consists of a thread and the threads that were started in it. `session-id` is the same in all of these threads. `thread-id`
 * names the thread, and `x-codex-parent-thread-id` names the thread that has started it.
 */
export const codex: ClientProgram = {
  isSender: ({ originator, 'x-codex-window-id': window, 'x-codex-turn-metadata': metadata }) =>
    window !== undefined ||
    metadata !== undefined ||
    (typeof originator === 'string' && originator.startsWith('codex')),
  read(headers) {
    const metadata = readMetadata(headers);
    return { purpose: readPurpose(headers, metadata), agentType: undefined, turn: readTurn(headers, metadata) };
  },
};

function readPurpose(headers: IncomingHttpHeaders, { request_kind: kind, thread_source: source }: JsonObject): Purpose {
  const agent = headers['x-openai-subagent'];
  if (kind === 'compaction' || agent === 'compact') return 'compaction';
  if (headers['x-openai-memgen-request'] !== undefined || backgroundAgents.has(agent)) return 'auxiliary';
  return agent !== undefined || source === 'subagent' ? 'subagent' : 'main';
}

function readTurn(headers: IncomingHttpHeaders, metadata: JsonObject): AgentTurn | undefined {
  const session = readSessionName(headers['session-id']);
  if (session === undefined) return undefined;
  const otherThread = (thread: unknown): string | undefined =>
    thread === session ? undefined : readSessionName(thread);
  return {
    program: 'codex',
    session,
    agent: otherThread(headers['thread-id']),
    parent: otherThread(headers['x-codex-parent-thread-id']),
    type: readAgentType(headers['x-openai-subagent']),
    // An agent's turn has an id of its own, while the root turn is the turn of the person's prompt.
    prompt: readSessionName(metadata['root_turn_id']),
  };
}

function readMetadata({ 'x-codex-turn-metadata': text }: IncomingHttpHeaders): JsonObject {
  if (typeof text !== 'string') return {};
  try {
    const metadata: unknown = JSON.parse(text);
    return isJsonObject(metadata) ? metadata : {};
  } catch {
    // A malformed header is ignored, because it is no reason to refuse the request.
    return {};
  }
}
