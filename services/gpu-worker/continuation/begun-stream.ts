import type { GrantedJob } from '#shared/broker/contract/job-contract.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { RelayedAnswer } from '#shared/formats/relayed-answer.ts';
import type { Translation } from '#shared/translate/translation.ts';
import type { ParsedRequest } from '#shared/upstream/read-request.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';
import { completionsUpstream } from '#shared/translate/upstreams/completions/completions-upstream.ts';
import { chatText, completionText, type UpstreamText } from '#shared/upstream/continuation/upstream-text.ts';
import { engineChatFormat, type Engine } from '../engines/engine.ts';
import { assertContinuable, isLimited, promptOf, withBegunMessage, withBegunPrompt } from './continued-request.ts';
import { readBegun } from './read-begun.ts';
import { cannotContinue } from './refused.ts';

/** An answer that another worker began, and how this worker continues it. */
export interface BegunStream {
  relayed: RelayedAnswer;
  text: UpstreamText;
  /** The text that the engine gets as the beginning of its answer. */
  beginning: string;
  /** The end of the text that the client already has. The engine does not get it, and generates it again. */
  again: string;
  /** The prompt of a text completion; empty for a conversation. */
  prompt: string;
  /**
   * Adds `beginning` to a translated request that is not yet adapted to the engine.
   * @throws CannotContinue `refused` if the request asks for something that cannot be continued
   */
  begin: (translated: JsonObject) => JsonObject;
}

/**
 * Finds out how this worker continues a job's answer; undefined if the answer has not begun. Removes the relayed bytes from the job.
 * @throws CannotContinue `refused` if the answer cannot be continued exactly
 */
export function readBegunStream(
  job: GrantedJob,
  { continuation }: Pick<Engine, 'continuation'>,
  { translation, format }: { translation: Translation; format: HttpUpstreamFormat },
  { request: clientRequest }: Pick<ParsedRequest, 'request'>,
): BegunStream | undefined {
  const { relayed: bytes, answerId } = job;
  if (!bytes) return undefined;
  job.relayed = undefined;
  const relayed = readBegun(bytes, translation.client, answerId);
  if (!continuation) throw cannotContinue('this engine does not continue answers');
  const isChat = format === engineChatFormat;
  if (!isChat && format !== completionsUpstream)
    throw cannotContinue('it is asked for in a format that is not continued');
  const whole = relayed.pieces.join('');
  const textSoFar = isChat && continuation.trims ? whole.trimEnd() : whole;
  const begin = (translated: JsonObject): JsonObject => {
    assertContinuable(translated);
    if (isChat) return withBegunMessage(translated, textSoFar);
    if (continuation.limitsCompletions && !isLimited(translated))
      throw cannotContinue('its engine has a limit of its own');
    return withBegunPrompt(translated, textSoFar);
  };
  const { text, prompt } = isChat
    ? { text: chatText, prompt: '' }
    : { text: completionText, prompt: promptOf(clientRequest) };
  return { relayed, text, beginning: textSoFar, again: whole.slice(textSoFar.length), prompt, begin };
}
