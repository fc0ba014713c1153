import type { Capability } from '#shared/broker/contract/announcement.ts';
import type { AnswerPart, Outcome } from '../answer/answer-part.ts';
import type { Conversation } from '#shared/translate/conversation/conversation.ts';
import type { CliProcess } from '../process/cli-process.ts';
import type { ProcessStarter } from '../process/process-starter.ts';
import type { Workspace } from '../process/workspace.ts';

/** The command-line agents that are known by name, and `command` for anything that reads a prompt and prints an answer. */
export const cliKinds = ['claude', 'codex', 'gemini', 'opencode', 'command'] as const;
export type CliKind = (typeof cliKinds)[number];

/** What a session is started with. */
export interface SessionStart {
  starter: ProcessStarter;
  /** Empty folders of the session's own. */
  workspace: Workspace;
  /** The models that the worker announces; the first one is what a session is made ready for. */
  models: readonly [string, ...string[]];
  /** Aborts when the start takes too long or the worker stops. */
  signal: AbortSignal;
}

/** A running CLI, ready for conversations, one at a time. */
export interface CliSession {
  readonly process: CliProcess;
  /**
   * Holds one conversation, of which the CLI knew nothing before and another one will see nothing.
   * When the signal aborts it asks the CLI to stop and settles when that has obeyed.
   * @param onPart takes the answer as it comes
   * @throws RouterError for what the client is to be told
   */
  converse(conversation: Conversation, onPart: (part: AnswerPart) => void, signal: AbortSignal): Promise<Outcome>;
}

/** What the worker has to know of one kind of CLI. */
export interface Cli {
  readonly kind: CliKind;
  /** What its models can do through it. */
  readonly capabilities: readonly Capability[];
  /** Whether a process that held a conversation remembers it, and so must not hold another one. */
  readonly singleUse: boolean;
  /**
   * Starts a process and resolves when it can take a conversation at once.
   * @throws RouterError `upstream_failed` when it does not get there
   */
  start(options: SessionStart): Promise<CliSession>;
}
