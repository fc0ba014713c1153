import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { rerankFormat } from '#shared/formats/rerank/rerank-format.ts';
import type { RerankRequest } from '#shared/formats/rerank/parse-rerank-request.ts';
import type { Ending, AnswerContext, ModelTraits } from '../translation.ts';
import { readChatEventError } from '../upstreams/chat/upstream-error.ts';
import { readInputUsage } from '../upstreams/read-input-usage.ts';
import { ignored, passed, rule, translated, type FieldRule } from '../field-rule.ts';
import { createSameFormatTranslation, createSameFormatUpstream } from './same-format.ts';

/** Document ranking, as Cohere, Jina, vLLM, SGLang and llama.cpp serve it. */
export const rerankUpstream = createSameFormatUpstream({
  client: rerankFormat,
  operation: 'rank',
  path: '/rerank',
});

const requestRules: readonly FieldRule[] = [
  rule('model', translated('model', "the upstream's name for the chosen model")),
  rule('query', passed),
  rule('documents[]', passed),
  rule('top_n', translated('top_n', 'at most the number of documents; the router removes further results')),
  rule('return_documents', translated('results[].document.text', 'added by the router; not sent')),
  rule('*', passed),
];

const answerRules: readonly FieldRule[] = [
  rule('id', translated('id', "the router's id")),
  rule('model', translated('model', "the router's name for the model")),
  rule('results[].index', translated('results[].index', 'results are in the order of their scores, the best first')),
  rule('results[].relevance_score', passed),
  rule('results[].document', translated('results[].document.text', 'as in the request, if `return_documents` is true')),
  rule('usage.prompt_tokens', translated('usage.prompt_tokens', 'estimated if the upstream reports none')),
  rule('usage.total_tokens', translated('usage.total_tokens', 'the same as `prompt_tokens`')),
  rule('*', ignored('other fields differ from upstream to upstream')),
];

/** The fields of the request that the translation of the answer needs. */
interface RecalledFields {
  count: number;
  topN: number | null;
  documents: string[] | null;
}

export const rerankToRerank = createSameFormatTranslation(rerankFormat, rerankUpstream, {
  requestRules,
  answerRules,
  recallFields: (body) => ({ ...toRecalledFields(body as RerankRequest) }),
  translateRequest: rerankToRerankRequest,
  translateReply: rerankToRerankReply,
});

function toRecalledFields({ documents, top_n, return_documents }: RerankRequest): RecalledFields {
  return { count: documents.length, topN: top_n ?? null, documents: return_documents === true ? documents : null };
}

function rerankToRerankRequest(body: JsonObject, { model }: ModelTraits): JsonObject {
  const { return_documents: _, ...request } = body as RerankRequest;
  const { documents, top_n: topN } = request;
  // Some upstreams refuse a `top_n` above the number of documents.
  return { ...request, model, ...(typeof topN === 'number' && { top_n: Math.min(topN, documents.length) }) };
}

/**
 * Returns the client's answer: the best documents first, up to the requested number.
 * @throws RouterError `upstream_failed` if a result cannot be read
 */
function rerankToRerankReply(body: JsonObject, answerContext: AnswerContext): { body: JsonObject; ending: Ending } {
  const failure = readChatEventError(body);
  if (failure) throw failure;
  const { count, topN, documents } = answerContext.recalled as unknown as RecalledFields;
  const ranked = readResults(body['results'], count).sort((a, b) => b.score - a.score || a.index - b.index);
  const results = ranked.slice(0, topN ?? undefined).map(({ index, score }) => ({
    index,
    relevance_score: score,
    ...(documents && { document: { text: documents[index] ?? '' } }),
  }));
  const usage = readInputUsage(body['usage'], answerContext);
  const counts = { prompt_tokens: usage.promptTokens, total_tokens: usage.promptTokens };
  return {
    body: { id: answerContext.id, object: 'list', model: answerContext.model, results, usage: counts },
    ending: { usage, finishReason: 'stop' },
  };
}

function readResults(results: Json | undefined, count: number): { index: number; score: number }[] {
  if (!Array.isArray(results)) throw createUnreadableError();
  return results.map((result) => {
    const { index, relevance_score: score } = isJsonObject(result) ? result : {};
    const isDocument = typeof index === 'number' && Number.isInteger(index) && index >= 0 && index < count;
    if (!isDocument || typeof score !== 'number') throw createUnreadableError();
    return { index, score };
  });
}

function createUnreadableError(): RouterError {
  return new RouterError('upstream_failed', 'The upstream sent a ranking that cannot be read.');
}
