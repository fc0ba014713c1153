import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { ClientProgram } from './client-program.ts';

/** Values of `x-openai-subagent` for memories and for reviews of approvals. Other values name agents. */
const backgroundAgents: ReadonlySet<unknown> = new Set(['memory_consolidation', 'guardian']);

/**
 * Codex. As observed in release 0.169.0, it describes each request in `x-codex-turn-metadata`, a JSON object with
 * `request_kind` (`turn`, `compaction`) and `thread_source` (`user`, `subagent`), and names the kind of a spawned agent in
 * `x-openai-subagent`. Its memories are written with `x-openai-memgen-request`. It does not call `/responses/compact`.
 */
export const codex: ClientProgram = {
  isSender: ({ originator, 'x-codex-window-id': window, 'x-codex-turn-metadata': metadata }) =>
    window !== undefined ||
    metadata !== undefined ||
    (typeof originator === 'string' && originator.startsWith('codex')),
  purposeOf(headers) {
    const { request_kind: kind, thread_source: source } = metadataOf(headers);
    const agent = headers['x-openai-subagent'];
    if (kind === 'compaction' || agent === 'compact') return 'compaction';
    if (headers['x-openai-memgen-request'] !== undefined || backgroundAgents.has(agent)) return 'auxiliary';
    return agent !== undefined || source === 'subagent' ? 'subagent' : 'main';
  },
};

function metadataOf({ 'x-codex-turn-metadata': text }: IncomingHttpHeaders): JsonObject {
  if (typeof text !== 'string') return {};
  try {
    const metadata: unknown = JSON.parse(text);
    return isJsonObject(metadata) ? metadata : {};
  } catch {
    // A header that cannot be read tells nothing, and is no reason to refuse the request.
    return {};
  }
}
