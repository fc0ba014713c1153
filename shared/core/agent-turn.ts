/** The programs whose agent sessions are recognized by their headers; `other` is any client that names its session itself. */
export const agentPrograms = ['claude-code', 'codex', 'opencode', 'other'] as const;
export type AgentProgram = (typeof agentPrograms)[number];

/**
 * The time that the client's own tools took between the previous turn and this one. Each tool counts in full, even if several tools ran at
 * the same time.
 */
export interface ToolTimes {
  /** The sum, in milliseconds. */
  ms: number;
  /** The tools that took longest, longest first, each with its milliseconds. */
  longest: { name: string; ms: number }[];
}

/** The agent session to which a request belongs as a turn. Names and ids are the client's own. */
export interface AgentTurn {
  program: AgentProgram;
  session: string;
  /** The id of the agent that sends the request; undefined for the agent that talks to the person. */
  agent?: string | undefined;
  /** The id of the agent that has started `agent`; undefined for the agent that talks to the person. */
  parent?: string | undefined;
  /** The type of the agent, such as `Explore`. */
  type?: string | undefined;
  /** The id of the person's prompt that the agent works on. */
  prompt?: string | undefined;
  tools?: ToolTimes | undefined;
}
