/** The programs whose sessions are known by their headers; `other` is any client that names its session itself. */
export const agentPrograms = ['claude-code', 'codex', 'opencode', 'other'] as const;
export type AgentProgram = (typeof agentPrograms)[number];

/** How long the client's own tools took between the turn before and this one. Those that ran at the same time count each. */
export interface ToolTimes {
  /** Milliseconds, of all of them. */
  ms: number;
  /** The ones that took longest, longest first, each with its milliseconds. */
  longest: { name: string; ms: number }[];
}

/** What a request says of the session of a coding agent that it is a turn of. Names and ids are the client's own. */
export interface AgentTurn {
  program: AgentProgram;
  session: string;
  /** The agent that another one has started; undefined for the one that talks to the person. */
  agent?: string | undefined;
  /** The agent that has started it; undefined for the one that talks to the person. */
  parent?: string | undefined;
  /** What kind of agent it is, such as `Explore`. */
  type?: string | undefined;
  /** The person's prompt that it works on. */
  prompt?: string | undefined;
  tools?: ToolTimes | undefined;
}
