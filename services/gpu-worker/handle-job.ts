import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { GrantedJob, JobEnd, JobHandler, Reply } from '#shared/broker/contract/job-contract.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { noUsage } from '#shared/core/usage.ts';
import { findTranslation, type Translation } from '#shared/translate/translation.ts';
import { mint, unsealOf } from '#shared/upstream/mint.ts';
import { readRequest, type ReadRequest } from '#shared/upstream/read-request.ts';
import { relayAnswer, type AnswerTimeouts } from '#shared/upstream/relay-answer.ts';
import { TokenCounter } from '#shared/upstream/token-counter.ts';
import { isUnreachable, upstreamFailure } from '#shared/upstream/upstream-failure.ts';
import { bytesOf } from '#shared/upstream/upstream-http.ts';
import type { EngineHttp } from './engine-http.ts';
import { engineFormat, type Engine } from './engines/engine.ts';
import type { ImageFetcher } from './images/image-fetcher.ts';
import { inlineImages, mayNameImages } from './images/inline-images.ts';

export interface HandleJobOptions {
  http: EngineHttp;
  engine: Engine;
  translations: readonly Translation[];
  /** Returns the models that the engine serves now. */
  models: () => readonly ModelInfo[];
  fetchImage: ImageFetcher;
  timeouts: AnswerTimeouts;
  /** Called when the engine refuses connections. */
  onUnreachable: () => void;
}

/** A translated request. It may be large, so only these parts of it are kept. */
interface EngineRequest {
  body: Buffer[];
  /** Input tokens, estimated. */
  inputTokens: number;
  learn: ((promptTokens: number) => void) | undefined;
  /** What the translation of the answer keeps of the client's request. */
  recalled: JsonObject | undefined;
}

/** Makes the handler that serves jobs with one engine: translates, adapts, sends, translates back. */
export function createHandleJob(options: HandleJobOptions): JobHandler {
  const { http, engine, translations, models, fetchImage, timeouts, onUnreachable } = options;
  const traced = { provider: engine.kind, server: http.server };
  const counter = new TokenCounter(engine.countTokens?.bind(engine, http));

  return async function handleJob(job, reply, signal) {
    const model = models().find(({ id }) => id === job.model);
    if (!model) throw new RouterError('upstream_failed', `The engine no longer serves ${job.model}.`);
    const translation = findTranslation(translations, job.format, engineFormat);
    if (job.operation === 'count_tokens') {
      const request = readRequest(job);
      const count = counter.count(await translate(translation, job, request, model, signal), model.id, signal);
      reply.write(JSON.stringify(translation.client.countAnswer?.(await explained(count, signal)) ?? {}));
      return { usage: noUsage, finishReason: 'stop' };
    }
    const request = await requestOf(translation, job, model, signal);
    const end = await explained(generate(translation, request, job, reply, signal), signal);
    request.learn?.(end.usage.promptTokens);
    return end;
  };

  async function translate(
    translation: Translation,
    job: GrantedJob,
    { given, skim }: ReadRequest,
    model: ModelInfo,
    signal: AbortSignal,
  ): Promise<JsonObject> {
    const target = { model: model.id, maxOutput: model.maxOutput, unseal: unsealOf(job) };
    const request = engine.adapt(translation.request(given, target), model);
    if (!skim(() => mayNameImages(request))) return request;
    const clientPath = (address: string): string | undefined => translation.pathOfAddress?.(given, address);
    return inlineImages(request, fetchImage, signal, clientPath);
  }

  async function requestOf(
    translation: Translation,
    job: GrantedJob,
    model: ModelInfo,
    signal: AbortSignal,
  ): Promise<EngineRequest> {
    const unread = translation.passesLists === true ? job.unread : undefined;
    const read = readRequest(job, unread?.lists);
    const recalled = translation.recall?.(read.given);
    const request = await translate(translation, job, read, model, signal);
    const body = read.write(request);
    // Lists that were not read tell nothing.
    if (unread && read.hasUnreadLists) return { recalled, body, inputTokens: unread.inputTokens, learn: undefined };
    return {
      recalled,
      body,
      inputTokens: engineFormat.estimateInput(request),
      learn: counter.lesson(request, model.id, bytesOf(body)),
    };
  }

  function generate(
    translation: Translation,
    { body, inputTokens, recalled }: EngineRequest,
    job: GrantedJob,
    reply: Reply,
    signal: AbortSignal,
  ): Promise<JobEnd> {
    const { model, stream, trace } = job;
    const relay = {
      http,
      upstream: engineFormat,
      translation,
      minted: mint(translation.client, { model, job, recalled, promptTokens: () => inputTokens }),
      stream,
      timeouts,
      write: (text: string) => reply.write(text),
      room: () => reply.room?.(),
      trace: trace && { parent: trace, ...traced, model, stream },
    };
    return relayAnswer(relay, { path: `/v1${engineFormat.path}`, body }, signal);
  }

  /** Resolves to the engine's answer. Rejects with its failure as an error for the client. */
  async function explained<Answer>(answer: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      if (isUnreachable(error)) onUnreachable();
      throw upstreamFailure(error, signal);
    }
  }
}
