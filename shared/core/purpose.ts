import type { AgentTurn } from './agent-turn.ts';

/**
 * What a coding agent sends a request for:
 * - `main`: a turn of the conversation with its person
 * - `subagent`: a turn of an agent that another one has started
 * - `workflow`: a turn of an agent that a workflow has started
 * - `compaction`: a summary that replaces a conversation that has become too long
 * - `auxiliary`: anything small beside them, such as a title, a classification or a web search
 *
 * The names are those of Claude Code's hint headers.
 */
export const purposes = ['main', 'subagent', 'workflow', 'compaction', 'auxiliary'] as const;
export type Purpose = (typeof purposes)[number];

/** What a request shows of why it is sent. */
export interface RequestPurpose {
  /** Undefined for a client that neither says it nor is known by its signs. */
  purpose: Purpose | undefined;
  /** What kind of agent sends it, such as `Explore`, in the words of its program; undefined if the program does not say. */
  agentType: string | undefined;
  /** The session of a coding agent that it is a turn of; undefined if it names none. */
  turn?: AgentTurn | undefined;
}

/** The purpose of this name; undefined for any other value, such as a purpose of a later program. */
export function purposeNamed(name: unknown): Purpose | undefined {
  return purposes.find((purpose) => purpose === name);
}
