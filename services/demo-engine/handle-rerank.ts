import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';
import { countTokens } from '#shared/upstream/o200k-tokens.ts';
import { answerWithSlot } from './answer-with-slot.ts';
import { requireModel, type Engine } from './engine.ts';
import { sendComputed } from './reply/send-computed.ts';
import { resolveDemoOptions, findDemoWords, removeDemoLine } from './request/demo-options.ts';
import { parseBody, readJsonBody } from './request/read-body.ts';
import { rerankRequestSchema } from './request/vector-requests.ts';
import { embedText, computeSimilarity } from './vectors/embed-text.ts';

/** Number of dimensions in which documents are compared. With this number, different words seldom share a dimension. */
const dimensions = 1024;

/**
 * Handles `POST /v1/rerank` as vLLM does. The more words a document shares with the query, the higher it ranks.
 * @throws RouterError when the request is refused; the signal's reason when the client disconnects
 */
export async function handleRerank(
  engine: Engine,
  http: IncomingMessage,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const body = await readJsonBody(http);
  const { model, query, documents, top_n: topN, demo: options } = parseBody(rerankRequestSchema, body);
  requireModel(engine, model, 'rank');
  if (documents.length === 0)
    throw new RouterError('invalid_request', 'There are no documents.', { param: 'documents' });
  const demo = resolveDemoOptions(engine.defaults, options, findDemoWords(query));
  let tokens = 0;
  for (const text of documents) tokens += await countTokens(`${query}\n${text}`, signal);
  const facts = {
    id: `rerank-${randomUUID()}`,
    model,
    stream: false,
    messages: documents.length,
    tools: 0,
    fields: Object.keys(body),
    request_id: http.headers['x-request-id']?.toString() ?? null,
    prompt_tokens: tokens,
  };
  await answerWithSlot(engine, { facts, demo, response, signal }, ({ id }) => {
    const queryVector = embedText(removeDemoLine(query), dimensions);
    const results = documents
      .map((text, index) => {
        const score = (1 + computeSimilarity(queryVector, embedText(text, dimensions))) / 2;
        return { index, document: { text }, relevance_score: score };
      })
      .sort((a, b) => b.relevance_score - a.relevance_score)
      .slice(0, topN ?? undefined);
    const usage = { prompt_tokens: tokens, total_tokens: tokens };
    return sendComputed({ id, model, results, usage }, demo, response, signal);
  });
}
