import type { IncomingHttpHeaders } from 'node:http';
import type { AgentTurn } from '#shared/core/agent-turn.ts';
import { parsePurpose, type Purpose } from '#shared/core/purpose.ts';
import type { RequestSigns } from '#shared/formats/request-signs.ts';
import { type ClientProgram, readAgentType, readSessionName } from './client-program.ts';
import { readToolTimes } from './read-tool-times.ts';

/** Beginning of the last message of a request for a compaction. */
const compactionStart = 'CRITICAL: Respond with TEXT ONLY.';

/** Beginning of the instructions of a workflow's agent. */
const workflowStart = 'You are a subagent spawned by a workflow';

/** Beginning of the instructions with which Claude Code lets a model judge one of its tool calls in auto mode. */
const classifierStart = 'You are a security monitor for autonomous AI coding agents';

/**
 * Claude Code. The program names the session and the agent of each request. With `CLAUDE_CODE_GATEWAY_HINT_HEADERS=1`, it also sends the
 * purpose of each request, the id of the person's prompt, and the times of the preceding tools. Without that setting, these signs were
 * observed in release 2.1.330:
 * - requests of agents have `x-claude-code-agent-id`; the instructions of an agent that a workflow has started say so, unless the agent has
 * a named type
 * - a compaction ends with a message that forbids tools
 * - the instructions of every conversation are marked for the cache; single requests beside the conversation (titles, web searches) have
 * instructions without this mark, and no tools that the client defines
 * - requests that judge a tool call in auto mode have no tools that the client defines, and long instructions that are marked for the cache
 */
export const claudeCode: ClientProgram = {
  isSender: (headers) => headers['x-claude-code-session-id'] !== undefined,
  read(headers, signs) {
    const type = headers['x-claude-code-agent-type'];
    return {
      purpose: readPurpose(headers, signs),
      agentType: typeof type === 'string' ? type : undefined,
      turn: readTurn(headers),
    };
  },
};

function readPurpose(headers: IncomingHttpHeaders, signs: RequestSigns | undefined): Purpose {
  const stated = parsePurpose(headers['x-claude-code-request-class']);
  if (stated) return stated;
  if (headers['x-claude-code-compaction'] !== undefined) return 'compaction';
  if (signs?.lastText.startsWith(compactionStart)) return 'compaction';
  if (signs && !signs.hasOwnTools && isCallJudgement(signs)) return 'auxiliary';
  if (headers['x-claude-code-agent-id'] !== undefined)
    return signs?.lastInstructions?.at(-1)?.startsWith(workflowStart) ? 'workflow' : 'subagent';
  return signs && !signs.hasOwnTools && !signs.cachesInstructions ? 'auxiliary' : 'main';
}

/**
 * Returns whether a request asks a model to judge a tool call. The instruction to judge is between instructions about the client's login
 * and the session.
 */
function isCallJudgement({ lastInstructions = [] }: RequestSigns): boolean {
  return lastInstructions.some((text) => text.startsWith(classifierStart));
}

function readTurn(headers: IncomingHttpHeaders): AgentTurn | undefined {
  const session = readSessionName(headers['x-claude-code-session-id']);
  if (session === undefined) return undefined;
  return {
    program: 'claude-code',
    session,
    agent: readSessionName(headers['x-claude-code-agent-id']),
    parent: readSessionName(headers['x-claude-code-parent-agent-id']),
    type: readAgentType(headers['x-claude-code-agent-type']),
    prompt: readSessionName(headers['x-claude-code-prompt-id']),
    tools: readToolTimes(headers['x-claude-code-prev-tool-durations']),
  };
}
