import { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import { countTokens } from '#shared/upstream/o200k-tokens.ts';
import { createComputedHandler } from '../handle-computed.ts';
import { removeDemoLine } from '../request/demo-options.ts';
import { parseBody, readJsonBody } from '../request/read-body.ts';
import { computeSimilarity, embedText, embedTokens } from './embed-text.ts';

// The schemas contain the fields that the demo engine reads. It ignores other fields. `resolveDemoOptions` checks `demo`.
const tokens = z.array(z.int().min(0));
const embeddingsRequestSchema = z.looseObject({
  model: z.string(),
  input: z.union([z.string(), z.array(z.string()), tokens, z.array(tokens)]),
  dimensions: z.int().min(1).max(4096).nullish(),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  demo: z.unknown().optional(),
});
const moderationsRequestSchema = z.looseObject({
  model: z.string(),
  /** The engine does not judge images. */
  input: z.union([
    z.string(),
    z.array(z.string()),
    z.array(z.looseObject({ type: z.string(), text: z.string().nullish() })),
  ]),
  demo: z.unknown().optional(),
});
const rerankRequestSchema = z.looseObject({
  model: z.string(),
  query: z.string(),
  documents: z.array(z.string()),
  top_n: z.int().min(1).nullish(),
  demo: z.unknown().optional(),
});

/** Handles `POST /v1/embeddings`. */
export const handleEmbeddings = createComputedHandler('embed', 'embd', async (http, requireServed, signal) => {
  const body = await readJsonBody(http);
  const { model, input, dimensions, encoding_format: encoding, demo } = parseBody(embeddingsRequestSchema, body);
  requireServed(model);
  const inputs = listInputs(input);
  const first = requireFirst(inputs, 'input', 'The input is empty.');
  let promptTokens = 0;
  for (const text of inputs) promptTokens += typeof text === 'string' ? await countTokens(text, signal) : text.length;
  const embed = (text: string | number[], index: number) => {
    const size = dimensions ?? undefined;
    const vector = typeof text === 'string' ? embedText(text, size) : embedTokens(text, size);
    return { object: 'embedding', index, embedding: encoding === 'base64' ? toBase64(vector) : vector };
  };
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens, completion_tokens: 0 };
  return {
    model,
    demo,
    demoText: typeof first === 'string' ? first : '',
    fields: Object.keys(body),
    inputs: inputs.length,
    promptTokens,
    compute: (id) => ({ id, object: 'list', model, data: inputs.map(embed), usage }),
  };
});

function listInputs(input: string | string[] | number[] | number[][]): (string | number[])[] {
  if (typeof input === 'string') return [input];
  const ids = input.filter((each) => typeof each === 'number');
  return ids.length > 0 ? [ids] : input.filter((each) => typeof each !== 'number');
}

function requireFirst<T>([first]: readonly T[], param: string, message: string): T {
  if (first === undefined) throw new RouterError('invalid_request', message, { param });
  return first;
}

function toBase64(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64');
}

/** Handles `POST /v1/moderations`. Judges the parts of one input together, as OpenAI does. */
export const handleModerations = createComputedHandler('moderate', 'modr', async (http, requireServed) => {
  const body = await readJsonBody(http);
  const { model, input, demo } = parseBody(moderationsRequestSchema, body);
  requireServed(model);
  const texts = toTexts(input);
  return {
    model,
    demo,
    demoText: requireFirst(texts, 'input', 'The input is empty.'),
    fields: Object.keys(body),
    inputs: texts.length,
    promptTokens: 0,
    compute: (id) => ({ id, model, results: texts.map(judgeText), usage: {} }),
  };
});

function toTexts(input: string | (string | { text?: string | null | undefined })[]): string[] {
  if (typeof input === 'string') return [input];
  const texts = input.filter((each) => typeof each === 'string');
  if (texts.length === input.length) return texts;
  return [input.map((each) => (typeof each === 'string' ? each : (each.text ?? ''))).join('\n')];
}

/** Number of dimensions in which documents are compared. With this number, different words seldom share a dimension. */
const comparedDimensions = 1024;

/** Handles `POST /v1/rerank` as vLLM does. The more words a document shares with the query, the higher it ranks. */
export const handleRerank = createComputedHandler('rank', 'rerank', async (http, requireServed, signal) => {
  const body = await readJsonBody(http);
  const { model, query, documents, top_n: topN, demo } = parseBody(rerankRequestSchema, body);
  requireServed(model);
  requireFirst(documents, 'documents', 'There are no documents.');
  let promptTokens = 0;
  for (const text of documents) promptTokens += await countTokens(`${query}\n${text}`, signal);
  const rank = () => {
    const queryVector = embedText(removeDemoLine(query), comparedDimensions);
    return documents
      .map((text, index) => {
        const score = (1 + computeSimilarity(queryVector, embedText(text, comparedDimensions))) / 2;
        return { index, document: { text }, relevance_score: score };
      })
      .sort((a, b) => b.relevance_score - a.relevance_score)
      .slice(0, topN ?? undefined);
  };
  const usage = { prompt_tokens: promptTokens, total_tokens: promptTokens };
  return {
    model,
    demo,
    demoText: query,
    fields: Object.keys(body),
    inputs: documents.length,
    promptTokens,
    compute: (id) => ({ id, model, results: rank(), usage }),
  };
});

/** Words that flag a text, by category of OpenAI's moderations. These few words are enough for tests, and to try clients. */
const flaggingWords = {
  harassment: ['idiot', 'loser'],
  hate: ['vermin'],
  'self-harm': ['self-harm'],
  sexual: ['porn'],
  violence: ['kill', 'murder', 'bomb'],
} as const satisfies Record<string, readonly string[]>;

/** Judges a text by the words in it. The same text always gets the same result. */
export function judgeText(text: string) {
  const textWords = new Set(text.toLowerCase().match(/[\p{L}-]+/gu) ?? []);
  const flagsByCategory = Object.entries(flaggingWords).map(([category, words]) => [
    category,
    words.some((word) => textWords.has(word)),
  ]);
  const categories = Object.fromEntries(flagsByCategory) as Record<string, boolean>;
  const flagged = Object.values(categories).some(Boolean);
  const scores = Object.entries(categories).map(([category, isFlagged]) => [category, isFlagged ? 0.99 : 0.01]);
  return { flagged, categories, category_scores: Object.fromEntries(scores) as Record<string, number> };
}
