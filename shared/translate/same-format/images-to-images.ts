import { imagesFormat } from '#shared/formats/images/images-format.ts';
import type { Ending, AnswerContext } from '../translation.ts';
import { imageEditsFormat } from '#shared/formats/image-edits/image-edits-format.ts';
import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { noUsage, readCount, type Usage } from '#shared/core/usage.ts';
import { readChatEventError } from '../upstreams/chat/upstream-error.ts';
import { createSameFormatTranslation, createSameFormatUpstream } from './same-format.ts';
import { encodeForm } from '../upstreams/encode-form.ts';

/** OpenAI's images, as OpenAI and some engines serve them. */
export const imagesUpstream = createSameFormatUpstream({
  client: imagesFormat,
  operation: 'draw',
  path: '/images/generations',
});

/** OpenAI's image edits, as OpenAI and some engines serve them. */
export const imageEditsUpstream = createSameFormatUpstream({
  client: imageEditsFormat,
  operation: 'redraw',
  path: '/images/edits',
  encode: encodeForm,
});

export const imagesToImages = createSameFormatTranslation(imagesFormat, imagesUpstream, {
  translateReply: toPicturesReply,
});

export const imageEditsToImageEdits = createSameFormatTranslation(imageEditsFormat, imageEditsUpstream, {
  translateReply: toPicturesReply,
});

/**
 * Returns the upstream's body as the client's answer. Adds the time of the answer if the body has no time. The usage has the number of
 * pictures and the tokens that the upstream reports.
 * @throws RouterError `upstream_failed` if the answer has no pictures
 */
function toPicturesReply(body: JsonObject, answerContext: AnswerContext): { body: JsonObject; ending: Ending } {
  const failure = readChatEventError(body);
  if (failure) throw failure;
  const { data, usage: reported } = body;
  if (!Array.isArray(data) || data.length === 0 || !data.every(isPicture))
    throw new RouterError('upstream_failed', 'The upstream has sent no picture.');
  const usage: Usage = { ...readUsage(reported), units: { images: data.length } };
  return { body: { created: answerContext.created, ...body }, ending: { usage, finishReason: 'stop' } };
}

function isPicture(item: Json): boolean {
  return isJsonObject(item) && (typeof item['b64_json'] === 'string' || typeof item['url'] === 'string');
}

/** Reads the reported usage. Image upstreams name their counts as the Responses format does. */
function readUsage(reported: Json | undefined): Usage {
  const { input_tokens: input, output_tokens: output } = isJsonObject(reported) ? reported : {};
  return { ...noUsage, promptTokens: readCount(input), completionTokens: readCount(output) };
}
