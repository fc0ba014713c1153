import { purposeNamed } from '#shared/core/purpose.ts';
import type { ClientProgram } from './client-program.ts';

/** How the last message of a compaction begins. */
const compactionWords = 'CRITICAL: Respond with TEXT ONLY.';

/** How the instructions of an agent of a workflow begin. */
const workflowWords = 'You are a subagent spawned by a workflow';

/**
 * Claude Code. With `CLAUDE_CODE_GATEWAY_HINT_HEADERS=1` it says what each request is for. Without, these signs were observed in
 * release 2.1.330:
 * - requests of agents carry `x-claude-code-agent-id`; the instructions of those that a workflow has started, unless they are of a
 *   named type, say so
 * - a compaction ends with a message that forbids tools
 * - single requests beside the conversation (titles, web searches) have no tools of their own, and their instructions are not
 *   marked for the cache, as those of every conversation are
 */
export const claudeCode: ClientProgram = {
  isSender: (headers) => headers['x-claude-code-session-id'] !== undefined,
  purposeOf(headers, signs) {
    const said = purposeNamed(headers['x-claude-code-request-class']);
    if (said) return said;
    if (headers['x-claude-code-compaction'] !== undefined) return 'compaction';
    if (signs?.lastText.startsWith(compactionWords)) return 'compaction';
    if (headers['x-claude-code-agent-id'] !== undefined)
      return signs?.lastInstructions?.startsWith(workflowWords) ? 'workflow' : 'subagent';
    return signs && !signs.hasOwnTools && !signs.cachesInstructions ? 'auxiliary' : 'main';
  },
  agentTypeOf({ 'x-claude-code-agent-type': type }) {
    return typeof type === 'string' ? type : undefined;
  },
};
