import type { GrantedJob } from '#shared/broker/contract/job-contract.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { RelayedAnswer } from '#shared/formats/relayed-answer.ts';
import type { Translation } from '#shared/translate/translation.ts';
import type { ParsedRequest } from '#shared/upstream/read-request.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';
import { completionsUpstream } from '#shared/translate/same-format/completions-to-completions.ts';
import { chatText, completionText, type UpstreamText } from '#shared/upstream/continuation/upstream-text.ts';
import { engineChatFormat, type Engine } from '../engines/engine.ts';
import {
  assertContinuable,
  hasOutputLimit,
  readSinglePrompt,
  appendToLastMessage,
  appendToPrompt,
} from './continued-request.ts';
import { readRelayedAnswer } from './read-relayed-answer.ts';
import { cannotContinue } from './cannot-continue.ts';

/** An answer that another worker began, and how this worker continues it. */
export interface BegunStream {
  relayedAnswer: RelayedAnswer;
  text: UpstreamText;
  /** The text that the engine gets as the beginning of its answer. */
  beginning: string;
  /** The end of the client's text that the engine does not get. The engine therefore generates this text again. */
  textToRepeat: string;
  /** The prompt of a text completion; empty for a conversation. */
  prompt: string;
  /**
   * Adds `beginning` to a translated request that is not yet adapted to the engine.
   * @throws CannotContinue `refused` if the request asks for a feature that cannot be continued
   */
  addBeginning: (translated: JsonObject) => JsonObject;
}

/**
 * Returns how this worker continues a job's answer; undefined if the answer has not begun. Removes the relayed bytes from the job.
 * @throws CannotContinue `refused` if the answer cannot be continued exactly
 */
export function readBegunStream(
  job: GrantedJob,
  { continuation }: Pick<Engine, 'continuation'>,
  { translation, format }: { translation: Translation; format: HttpUpstreamFormat },
  { request: clientRequest }: Pick<ParsedRequest, 'request'>,
): BegunStream | undefined {
  const { relayed: relayedBytes, answerId } = job;
  if (!relayedBytes) return undefined;
  job.relayed = undefined;
  const relayedAnswer = readRelayedAnswer(relayedBytes, translation.client, answerId);
  if (!continuation) throw cannotContinue('this engine does not continue answers');
  const isChat = format === engineChatFormat;
  if (!isChat && format !== completionsUpstream)
    throw cannotContinue('it is asked for in a format that is not continued');
  const relayedText = relayedAnswer.pieces.join('');
  const beginning = isChat && continuation.mayStripSpaces ? relayedText.trimEnd() : relayedText;
  const addBeginning = (translated: JsonObject): JsonObject => {
    assertContinuable(translated);
    if (isChat) return appendToLastMessage(translated, beginning);
    if (continuation.limitsCompletions && !hasOutputLimit(translated))
      throw cannotContinue('this engine limits completions whose request has no limit');
    return appendToPrompt(translated, beginning);
  };
  const { text, prompt } = isChat
    ? { text: chatText, prompt: '' }
    : { text: completionText, prompt: readSinglePrompt(clientRequest) };
  return { relayedAnswer, text, beginning, textToRepeat: relayedText.slice(beginning.length), prompt, addBeginning };
}
