import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { estimateTokens } from '#shared/formats/estimate-tokens.ts';
import type { HttpUpstreamFormat } from '../../upstream-format.ts';
import { createUnsupportedChatError } from '../../unsupported.ts';
import { readChatError } from '../chat/upstream-error.ts';

/** llama.cpp's completion of code between a prefix and a suffix (its README, "POST /infill"). Its streams have no `[DONE]`. */
export const infillUpstream: HttpUpstreamFormat = {
  name: 'infill',
  operation: 'complete',
  path: '/infill',
  headers: {},
  estimateInput,
  // Status 501 means that the model lacks the tokens that mark a prefix and a suffix.
  readError: (status, body, headers) =>
    status === 501 ? createUnsupportedChatError('suffix', 'a suffix') : readChatError(status, body, headers),
  // Quotes within a text are escaped, so the pattern matches only the field itself.
  classifyEvent: (data) => (/"stop"\s*:\s*true/.test(data) ? 'last' : 'answer'),
};

function estimateInput({ input_prefix: prefix, input_suffix: suffix, input_extra: files }: JsonObject): number {
  const texts = (Array.isArray(files) ? files : []).map((file) => (isJsonObject(file) ? file['text'] : undefined));
  return [prefix, suffix, ...texts].reduce<number>(
    (sum, text) => sum + (typeof text === 'string' ? estimateTokens(text) : 0),
    0,
  );
}
