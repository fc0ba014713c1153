import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { GrantedJob, JobEnd, JobHandler, Reply } from '#shared/broker/contract/job-contract.ts';
import { takeBody } from '#shared/broker/contract/take-body.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { noUsage } from '#shared/core/usage.ts';
import { chatNeeds } from '#shared/formats/chat/needs.ts';
import type { ChatRequest } from '#shared/formats/chat/request.ts';
import { pairFor, type FormatName } from '#shared/translate/translations.ts';
import { dialects } from '#shared/translate/upstreams/upstream-formats.ts';
import { mint } from '#shared/upstream/mint.ts';
import { formatOf } from '#shared/upstream/model-format.ts';
import { parseRequest } from '#shared/upstream/parse-request.ts';
import { relayAnswer, type AnswerBounds } from '#shared/upstream/relay-answer.ts';
import { TokenCounter } from '#shared/upstream/token-counter.ts';
import { isUnreachable, upstreamFailure } from '#shared/upstream/upstream-failure.ts';
import type { EngineHttp } from './engine-http.ts';
import type { Engine } from './engines/engine.ts';
import type { ImageFetcher } from './images/image-fetcher.ts';
import { imageSourcePath, inlineImages } from './images/inline-images.ts';

export interface HandleJobOptions extends AnswerBounds {
  http: EngineHttp;
  engine: Engine;
  /** What the engine serves now. */
  models: () => readonly ModelInfo[];
  fetchImage: ImageFetcher;
  /** Called when nobody listens at the engine's address. */
  onUnreachable: () => void;
}

/** A request to the engine, and what will be needed of it later: it may be large, so nothing else of it is held. */
interface Question {
  body: Buffer;
  /** Tokens of its input, estimated. */
  inputTokens: number;
  learn: ((promptTokens: number) => void) | undefined;
}

/** Makes the handler that serves jobs with one engine: translate, adapt, send, translate back. */
export function createHandleJob(options: HandleJobOptions): JobHandler {
  const { http, engine, models, fetchImage, onUnreachable } = options;
  const traced = { provider: engine.kind, server: http.server };
  const counter = new TokenCounter(engine.countTokens?.bind(engine, http));

  return async function handleJob(job, reply, signal) {
    const model = models().find(({ id }) => id === job.model);
    if (!model) throw new RouterError('upstream_failed', `The engine no longer serves ${job.model}.`);
    const client = formatOf(job.format);
    if (job.operation === 'count_tokens') {
      const count = counter.count(await translate(client, job, model, signal), model.id, signal);
      reply.write(JSON.stringify({ input_tokens: await told(count, signal) }));
      return { usage: noUsage, finishReason: 'stop' };
    }
    const question = questionOf(await translate(client, job, model, signal), model);
    const end = await told(generate(client, question, job, reply, signal), signal);
    question.learn?.(end.usage.promptTokens);
    return end;
  };

  function translate(client: FormatName, job: GrantedJob, model: ModelInfo, signal: AbortSignal): Promise<JsonObject> {
    const target = { model: model.id, maxOutput: model.maxOutput };
    const asked = parseRequest(takeBody(job));
    const translated = pairFor(client, 'chat').request(asked, target);
    const clientPath = client === 'messages' ? (address: string) => imageSourcePath(asked, address) : undefined;
    return inlineImages(engine.adapt(translated, model), fetchImage, signal, clientPath);
  }

  function questionOf(request: JsonObject, model: ModelInfo): Question {
    return {
      body: Buffer.from(JSON.stringify(request)),
      inputTokens: chatNeeds(request as ChatRequest).inputTokens,
      learn: counter.lesson(request, model.id),
    };
  }

  function generate(
    client: FormatName,
    { body, inputTokens }: Question,
    job: GrantedJob,
    reply: Reply,
    signal: AbortSignal,
  ): Promise<JobEnd> {
    const relay = {
      http,
      dialect: dialects.chat,
      pair: pairFor(client, 'chat'),
      minted: mint(client, job.model, inputTokens),
      stream: job.stream,
      bounds: options,
      write: (text: string) => reply.write(text),
      trace: job.trace && { parent: job.trace, ...traced, model: job.model, stream: job.stream },
    };
    return relayAnswer(relay, { path: '/v1/chat/completions', body }, signal);
  }

  /** What the engine answers, or its failure in words for the client. */
  async function told<Answer>(answer: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      if (isUnreachable(error)) onUnreachable();
      throw upstreamFailure(error, signal);
    }
  }
}
