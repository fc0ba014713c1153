import type { Json, JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';
import type { Ending } from './translation.ts';
import type { FinishReason } from './upstreams/chat/finish-reason.ts';
import type { ReasoningCollector } from './upstreams/chat/returned-reasoning.ts';
import type { ToolCallPiece } from './upstreams/chat/tool-call-assembler.ts';

/**
 * Writes an answer in one client format. The reader of an upstream format calls a method for each piece of the upstream's answer, in order.
 * Results are text ready to be sent: complete server-sent events, or '' if there is nothing to send. The optional methods are those for
 * which a client format may have no place.
 */
export interface AnswerWriter {
  /** See `StreamTranslation.hasContent`. */
  readonly hasContent: boolean;
  /**
   * Opens the answer. Not called for an answer that is not streamed.
   * @param usage the counts that the upstream has reported so far, if any
   */
  begin(usage: Usage | undefined): string;
  /**
   * @param text not empty
   * @param logprobs log probabilities of the tokens of the text, as a choice of the chat format has them
   */
  addText(text: string, logprobs?: Json): string;
  /** @param text not empty */
  addRefusal(text: string): string;
  /** @param text empty if the upstream thinks and does not show it */
  addThinking(text: string): string;
  /**
   * @param isCustom whether the call is of a custom tool, and its arguments are the tool's input
   * @throws RouterError `upstream_failed` if the call cannot be written
   */
  addCall(piece: ToolCallPiece, isCustom?: boolean): string;
  /**
   * Signs the thinking before it, with what only its upstream can read.
   * @param thinking a block of the `messages` format, or a reasoning item
   */
  sign?(thinking: JsonObject): void;
  /**
   * Attaches reasoning that the upstream wants back, unless the writer leaves it in the collector for a later place.
   * @param next what follows in the answer
   */
  attachReturned?(collector: ReasoningCollector, next: 'text' | 'call' | 'end'): void;
  /** Adds a search of the web that the upstream has made. */
  addSearch?(query: string): string;
  /**
   * Ends the answer.
   * @param stopSequence the stop sequence at which the answer ended, if the upstream reports it
   * @throws RouterError `upstream_failed` if the answer is incomplete
   */
  finish(ending: Ending & { finishReason: FinishReason }, stopSequence: string | null): string;
}
