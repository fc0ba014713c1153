import type { AgentTurn } from './agent-turn.ts';

/**
 * Why a coding agent sends a request:
 * - `main`: a turn of the conversation with its person
 * - `subagent`: a turn of an agent that another agent has started
 * - `workflow`: a turn of an agent that a workflow has started
 * - `compaction`: a summary that replaces a conversation that has become too long
 * - `auxiliary`: any other small request, such as a title, a classification or a web search
 *
 * The names come from Claude Code's hint headers.
 */
export const purposes = ['main', 'subagent', 'workflow', 'compaction', 'auxiliary'] as const;
export type Purpose = (typeof purposes)[number];

export interface RequestPurpose {
  /** Undefined if the client does not state the purpose and its program is not recognized. */
  purpose: Purpose | undefined;
  /**
   * The type of the agent that sends the request, such as `Explore`, in the program's own words; undefined if the program does not state
   * it.
   */
  agentType: string | undefined;
  /** The turn of an agent session; undefined if the request names no session. */
  turn?: AgentTurn | undefined;
}

/** The purpose of a request that gives no sign of one. */
export const noPurpose: RequestPurpose = { purpose: undefined, agentType: undefined };

/** Returns the purpose with this name; undefined for any other value, such as a purpose of a later program. */
export function parsePurpose(name: unknown): Purpose | undefined {
  return purposes.find((purpose) => purpose === name);
}
