import type { Capability } from '#shared/broker/contract/announcement.ts';
import type { Conversation } from '#shared/translate/conversation/conversation.ts';
import type { Dialogue } from '../answer/dialogue.ts';
import type { Outcome } from '../answer/outcome.ts';
import type { CliProcess } from '../process/cli-process.ts';
import type { ProcessStarter } from '../process/process-starter.ts';
import type { Workspace } from '../process/workspace.ts';

/** The command-line agents that are known by name, and `command` for any program that reads a prompt and prints an answer. */
export const cliKinds = ['claude', 'codex', 'gemini', 'opencode', 'command'] as const;
export type CliKind = (typeof cliKinds)[number];

/** A piece of an answer's text or thinking. */
export interface TextPart {
  kind: 'text' | 'thinking';
  text: string;
}

/** A call of one of the client's tools. */
export interface CallPart {
  kind: 'call';
  /** Its place among the answer's calls. */
  index: number;
  id: string;
  name: string;
  /** As the model wrote them. */
  arguments: string;
}

/** A piece of an answer, in the order in which the model wrote it. */
export type AnswerPart = TextPart | CallPart;

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
export interface CliSession<Request, Piece> {
  readonly process: CliProcess;
  /**
   * Holds one conversation, which neither sees earlier ones nor is seen by later ones.
   * When the signal aborts it asks the CLI to stop and settles when the CLI has stopped.
   * @param onPiece is called with the answer piece by piece
   * @throws RouterError for the client
   */
  converse(request: Request, onPiece: (piece: Piece) => void, signal: AbortSignal): Promise<Outcome>;
}

/** A session with a CLI that takes a conversation and answers with texts. */
export type ConversationSession = CliSession<Conversation, AnswerPart>;
export type ConversationCli = Cli<Conversation, AnswerPart>;

/** One kind of CLI. */
export interface Cli<Request, Piece> {
  readonly kind: CliKind;
  /** What generates behind it, in traces: OpenTelemetry's name for the provider, the CLI's where that may be any. */
  readonly traceName: string;
  /** What its models can do through it, in every version. */
  readonly capabilities: readonly Capability[];
  /** How clients' requests become its own, and its answers theirs. */
  readonly dialogue: Dialogue<Request, Piece>;
  /** Whether a process remembers its conversation, and so must not hold another one. */
  readonly singleUse: boolean;
  /**
   * Starts a process and resolves when it can take a conversation at once.
   * @throws RouterError `upstream_failed` when it does not become ready
   */
  start(options: SessionStart): Promise<CliSession<Request, Piece>>;
  /**
   * Finds out what the installed version can do besides `capabilities`.
   * @throws RouterError `upstream_failed` when it cannot be started
   */
  probe?(options: SessionStart): Promise<Capability[]>;
}
