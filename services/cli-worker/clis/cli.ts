import type { Capability } from '#shared/broker/contract/announcement.ts';
import type { Usage } from '#shared/core/usage.ts';
import type { Conversation } from '#shared/translate/conversation/conversation.ts';
import type { CliProcess } from '../process/cli-process.ts';
import type { ProcessStarter } from '../process/process-starter.ts';
import type { Workspace } from '../process/workspace.ts';

/** The command-line agents that are known by name, and `command` for any program that reads a prompt and prints an answer. */
export const cliKinds = ['claude', 'codex', 'gemini', 'opencode', 'command'] as const;
export type CliKind = (typeof cliKinds)[number];

/** A piece of an answer, in the order in which the model wrote it. */
export interface AnswerPart {
  /** `signature`: that of the thinking before it. */
  kind: 'text' | 'thinking' | 'signature';
  text: string;
}

/** How an answer ended. */
export interface Outcome {
  /** In the chat format's words: stop, length, content_filter. */
  finishReason: string;
  /** What the CLI counted; absent where it reports nothing. */
  usage?: Usage | undefined;
}

/** What a session is started with. */
export interface SessionStart {
  starter: ProcessStarter;
  /** Empty folders of the session's own. */
  workspace: Workspace;
  /** The models that the worker announces. A session is made ready for the first. */
  models: readonly [string, ...string[]];
  /** Aborts when the start takes too long or the worker stops. */
  signal: AbortSignal;
}

/** A running CLI, ready for conversations, one at a time. */
export interface CliSession {
  readonly process: CliProcess;
  /**
   * Holds one conversation, which neither sees earlier ones nor is seen by later ones.
   * When the signal aborts it asks the CLI to stop and settles when the CLI has stopped.
   * @param onPart is called with the answer piece by piece
   * @throws RouterError for the client
   */
  converse(conversation: Conversation, onPart: (part: AnswerPart) => void, signal: AbortSignal): Promise<Outcome>;
}

/** One kind of CLI. */
export interface Cli {
  readonly kind: CliKind;
  /** What generates behind it, in traces: OpenTelemetry's name for the provider, the CLI's where that may be any. */
  readonly traceName: string;
  /** What its models can do through it. */
  readonly capabilities: readonly Capability[];
  /** Whether it passes signed thinking of earlier turns to its upstream. */
  readonly takesThinking?: boolean;
  /** Whether a process remembers its conversation, and so must not hold another one. */
  readonly singleUse: boolean;
  /**
   * Starts a process and resolves when it can take a conversation at once.
   * @throws RouterError `upstream_failed` when it does not become ready
   */
  start(options: SessionStart): Promise<CliSession>;
}
