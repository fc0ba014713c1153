import type { Capability } from '#shared/broker/contract/announcement.ts';
import type { Conversation } from '#shared/translate/conversation/conversation.ts';
import type { Dialogue, Outcome } from '../answer/dialogue.ts';
import type { CliProcess } from '../process/cli-process.ts';
import type { ProcessStarter, Workspace } from '../process/process-starter.ts';

/** The command-line agents with built-in support, and `command` for any program that reads a prompt and prints an answer. */
export const cliKinds = ['claude', 'codex', 'gemini', 'opencode', 'command'] as const;
export type CliKind = (typeof cliKinds)[number];

export interface TextPart {
  kind: 'text' | 'thinking';
  text: string;
}

export interface CallPart {
  kind: 'call';
  index: number;
  id: string;
  name: string;
  /** The arguments as JSON, exactly as the model wrote it. */
  arguments: string;
}

/** A piece of an answer, in the order in which the model wrote it. */
export type AnswerPart = TextPart | CallPart;

/** The client's tools, as a CLI's answer calls them. */
export interface AnswerTools {
  /** The client's names of tools, by the CLI's names. */
  names: ReadonlyMap<string, string>;
  /** Whether the answer may have several calls. If not, all calls but the first are dropped. The model can make them again later. */
  parallel: boolean;
}

export interface StartOptions {
  starter: ProcessStarter;
  /** Empty folders for this session only. */
  workspace: Workspace;
  /** The models that the worker announces. The session is prepared for the first one. */
  models: readonly [string, ...string[]];
  /** Aborts when the start takes too long or the worker stops. */
  signal: AbortSignal;
}

/** A running CLI, ready for conversations, one at a time. */
export interface CliSession<Request, Piece> {
  readonly process: CliProcess;
  /**
   * Holds one conversation, isolated from earlier and later ones. When the signal aborts, asks the CLI to stop and settles when it has
   * stopped.
   * @param onPiece called with each piece of the answer
   * @throws RouterError with the error for the client
   */
  converse(request: Request, onPiece: (piece: Piece) => void, signal: AbortSignal): Promise<Outcome>;
}

export type ConversationSession = CliSession<Conversation, AnswerPart>;
export type ConversationCli = Cli<Conversation, AnswerPart>;

export interface Cli<Request, Piece> {
  readonly kind: CliKind;
  /** Name of the provider in traces: OpenTelemetry's name or, if the CLI can use any provider, the CLI's name. */
  readonly traceName: string;
  /** Capabilities that the CLI's models have in every version of the CLI. */
  readonly capabilities: readonly Capability[];
  readonly dialogue: Dialogue<Request, Piece>;
  /** Whether a process keeps its conversation in memory and must therefore not hold another conversation. */
  readonly isSingleUse: boolean;
  /**
   * Starts a process. Resolves when it can hold a conversation without further delay.
   * @throws RouterError `upstream_failed` if the process does not become ready
   */
  start(options: StartOptions): Promise<CliSession<Request, Piece>>;
  /**
   * Finds the capabilities that the installed version has besides `capabilities`.
   * @throws RouterError `upstream_failed` if the CLI cannot be started
   */
  probe?(options: StartOptions): Promise<Capability[]>;
}

/** Returns the field `message` of a text that contains the body of an upstream's error. Returns any other text unchanged. */
export function readErrorText(message: string): string {
  const text = /"message"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(message)?.[1];
  return text === undefined ? message : (JSON.parse(text) as string);
}
