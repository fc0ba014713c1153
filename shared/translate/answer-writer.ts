import type { Json, JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';
import type { Ending } from './translation.ts';
import type { FinishReason } from './upstreams/chat/finish-reason.ts';
import type { ReasoningCollector } from './upstreams/chat/returned-reasoning.ts';
import type { ToolCallPiece } from './upstreams/chat/tool-call-assembler.ts';

/**
 * Writes an answer in one client format. The reader of an upstream format calls a method for each piece of the upstream's answer, in order.
 * Each method returns text to send: complete server-sent events, or '' if there is nothing to send. A writer leaves out an optional method
 * if its client format has no place for that piece.
 */
export interface AnswerWriter {
  /** See `StreamTranslation.hasContent`. */
  readonly hasContent: boolean;
  /**
   * Opens the answer. Called only for a streamed answer.
   * @param usage the counts that the upstream has reported so far, if any
   */
  begin(usage: Usage | undefined): string;
  /**
   * @param text not empty
   * @param logprobs log probabilities of the text's tokens, in the form of `choices[].logprobs` of the chat format
   */
  addText(text: string, logprobs?: Json): string;
  /** @param text not empty */
  addRefusal(text: string): string;
  /** @param text empty if the upstream reports that it thinks, but does not show the thinking */
  addThinking(text: string): string;
  /**
   * @param isCustom whether the called tool is a custom tool; the arguments are then the tool's input as plain text
   * @throws RouterError `upstream_failed` if the call cannot be written
   */
  addCall(piece: ToolCallPiece, isCustom?: boolean): string;
  /**
   * Adds a signature to the thinking that was written last. Only the upstream that made the thinking can read the signature.
   * @param thinking a thinking block of the `messages` format, or a reasoning item of the Responses format
   */
  sign?(thinking: JsonObject): void;
  /**
   * Attaches the collected reasoning, which the upstream needs in the client's next request. The writer may leave the reasoning in the
   * collector, to attach it to a later piece.
   * @param next the piece that follows in the answer
   */
  attachReturned?(collector: ReasoningCollector, next: 'text' | 'call' | 'end'): void;
  /** Adds a web search that the upstream has made. */
  addSearch?(query: string): string;
  /**
   * Ends the answer.
   * @param stopSequence the stop sequence at which the answer ended, if the upstream reports it
   * @throws RouterError `upstream_failed` if the answer is incomplete
   */
  finish(ending: Ending & { finishReason: FinishReason }, stopSequence: string | null): string;
}
