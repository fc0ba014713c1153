import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { RerankRequest } from '#shared/formats/rerank/rerank-format.ts';
import type { Ending, AnswerContext, ModelTraits } from '../translation.ts';
import { readChatEventError } from '../upstreams/chat/upstream-error.ts';
import { readInputUsage } from '#shared/formats/chat/usage.ts';

/** The fields of the request that the translation of the answer needs. */
interface RecalledFields {
  count: number;
  topN: number | null;
  documents: string[] | null;
}

/** What changes in requests and answers of the format. */
export const rerankChanges = {
  recallFields: (body: JsonObject) => ({ ...toRecalledFields(body as RerankRequest) }),
  translateRequest: rerankToRerankRequest,
  translateReply: rerankToRerankReply,
};

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
