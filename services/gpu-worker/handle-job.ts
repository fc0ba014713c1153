import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { GrantedJob, JobEnd, JobHandler, Reply } from '#shared/broker/contract/job-contract.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { asksForUsage } from '#shared/formats/chat/stream-additions.ts';
import { lacksInputTokens, withInputTokens } from '#shared/formats/context-overflow.ts';
import { noUsage } from '#shared/core/usage.ts';
import type { AnswerContext, Translation } from '#shared/translate/translation.ts';
import { InputCount } from '#shared/upstream/input-count.ts';
import { createAnswerContext, createUnseal } from '#shared/upstream/create-answer-context.ts';
import { OutputFit } from '#shared/upstream/output-fit.ts';
import { readRequest, type ParsedRequest } from '#shared/upstream/read-request.ts';
import { relayAnswer, type AnswerTimeouts } from '#shared/upstream/relay-answer.ts';
import { countedFormat, TokenCounter } from '#shared/upstream/token-counter.ts';
import { isUnreachable, toJobError } from '#shared/upstream/upstream-failure.ts';
import { countBytes } from '#shared/upstream/upstream-http.ts';
import { writeRequest, type WrittenRequest } from '#shared/upstream/write-request.ts';
import type { EngineHttp } from './engine-http.ts';
import { engineChatFormat, type Engine } from './engines/engine.ts';
import { chooseEngineRoute, type EngineRoute } from './engine-route.ts';
import type { ImageFetcher } from './images/image-fetcher.ts';
import { inlineImages, mayNameImages } from './images/inline-images.ts';
import { readBegunStream, type BegunStream } from './continuation/begun-stream.ts';
import {
  prepareContinuation,
  continuedStream,
  endAnswer,
  type ContinuedAnswer,
} from './continuation/continue-answer.ts';
import { refusedIfClientError } from './continuation/refused.ts';
import { saltCache, withoutSteering } from './requests/engine-fields.ts';
import { readBegunAnswer, withoutBegun, type BegunAnswer } from './requests/begun-answer.ts';

export interface HandleJobOptions {
  http: EngineHttp;
  engine: Engine;
  translations: readonly Translation[];
  models: () => readonly ModelInfo[];
  fetchImage: ImageFetcher;
  timeouts: AnswerTimeouts;
  /** Whether a client that requests the usage of a stream gets it in a separate chunk. */
  usageChunk?: boolean;
  /** Whether limits of output tokens that the engine refuses are lowered. */
  fitsOutput?: boolean;
  /** Names of fields that steer the engine and that clients may set. */
  passedFields?: readonly string[];
  /** Called when the engine refuses connections. */
  onUnreachable: () => void;
}

/** What is needed of a translated request after it was written. The rest may be large and is not kept. */
interface EngineRequest {
  route: EngineRoute;
  body: Buffer[];
  headers: WrittenRequest['headers'];
  input: InputCount;
  recordPromptTokens: ((promptTokens: number) => void) | undefined;
  /** Fields of the client's request that the translation of the answer needs. */
  recalled: JsonObject | undefined;
  usageChunk: boolean;
  /** Lowers the limit of output tokens. It refers to the client's body until the engine has accepted the request. */
  fit: OutputFit | undefined;
  /** The beginning that must be removed from an answer that is not streamed. */
  begun: BegunAnswer | undefined;
  /** The answer that the request continues; undefined for a new answer. */
  continued: ContinuedAnswer | undefined;
}

/** Maximum milliseconds for counting the tokens of a request that the engine has refused. */
const countMs = 10_000;

/** Creates the handler that serves jobs with one engine. It translates, adapts and sends requests, and translates the answers back. */
export function createHandleJob(options: HandleJobOptions): JobHandler {
  const {
    http,
    engine,
    translations,
    models,
    fetchImage,
    timeouts,
    usageChunk = false,
    fitsOutput = false,
    passedFields = [],
    onUnreachable,
  } = options;
  const traced = { provider: engine.kind, server: http.server };
  const counter = new TokenCounter(engine.countTokens?.bind(engine, http));

  return async function handleJob(job, reply, signal) {
    const model = models().find(({ id }) => id === job.model);
    if (!model) throw new RouterError('upstream_failed', `The engine no longer serves ${job.model}.`);
    if (job.operation === 'count_tokens') {
      const read = readRequest(job);
      const route = routeOf(job, read);
      const count = counter.count(await translate(route, job, read, model, signal), model.id, signal);
      reply.write(JSON.stringify(route.translation.client.countAnswer?.(await withClientErrors(count, signal)) ?? {}));
      return { usage: noUsage, finishReason: 'stop' };
    }
    if (job.relayed) return refusedIfClientError(answer(job, model, reply, signal));
    return answer(job, model, reply, signal);
  };

  async function answer(job: GrantedJob, model: ModelInfo, reply: Reply, signal: AbortSignal): Promise<JobEnd> {
    const request = await requestOf(job, model, signal);
    const end = await withClientErrors(serve(request, job, reply, signal), signal).catch(async (error: unknown) => {
      throw await withCount(error, request, signal);
    });
    request.recordPromptTokens?.(end.usage.promptTokens);
    return end;
  }

  /** Adds the number of tokens to an engine's error that only says that the request does not fit. Returns other errors unchanged. */
  async function withCount(
    error: unknown,
    { route, body, continued }: EngineRequest,
    signal: AbortSignal,
  ): Promise<unknown> {
    if (!engine.countTokens || route.format !== countedFormat || continued || !lacksInputTokens(error)) return error;
    const sent = JSON.parse(Buffer.concat(body).toString()) as JsonObject;
    try {
      return withInputTokens(
        error,
        await engine.countTokens(http, sent, AbortSignal.any([signal, AbortSignal.timeout(countMs)])),
      );
    } catch {
      // The error is complete without the count.
      return error;
    }
  }

  function routeOf({ format }: GrantedJob, { request: clientRequest }: ParsedRequest): EngineRoute {
    return chooseEngineRoute(engine, translations, format, clientRequest);
  }

  async function translate(
    { translation, format }: EngineRoute,
    job: GrantedJob,
    { request: clientRequest, skim }: ParsedRequest,
    model: ModelInfo,
    signal: AbortSignal,
    begin: BegunStream['begin'] = (translated) => translated,
  ): Promise<JsonObject> {
    const switchesThinking = engine.switchesThinking === true && model.capabilities.includes('thinking');
    const { makesOneChoice } = engine;
    const { id, maxOutput } = model;
    const target = { model: id, maxOutput, switchesThinking, makesOneChoice, unseal: createUnseal(job) };
    const plain = withoutSteering(translation.request(clientRequest, target), passedFields);
    const isSalted = engine.saltsCaches === true && ['generate', 'complete'].includes(format.operation);
    const translated = begin(isSalted ? saltCache(plain, job.ownerKey) : plain);
    if (format !== engineChatFormat) return translated;
    const request = engine.adapt(translated, model);
    if (!skim(() => mayNameImages(request))) return request;
    const clientPath = (address: string): string | undefined => translation.pathOfAddress?.(clientRequest, address);
    return inlineImages(request, fetchImage, signal, clientPath);
  }

  async function requestOf(job: GrantedJob, model: ModelInfo, signal: AbortSignal): Promise<EngineRequest> {
    // Lists stay unread only in formats for which the choice of the route does not depend on a suffix.
    const { translation: usual } = chooseEngineRoute(engine, translations, job.format, {});
    const unread = usual.passesLists === true && !job.relayed ? job.unread : undefined;
    const read = readRequest(job, unread?.lists);
    const route = routeOf(job, read);
    const { translation, format } = route;
    const kept = { recalled: translation.recall?.(read.request), usageChunk: usageChunk && asksForUsage(read.request) };
    const stream = readBegunStream(job, engine, route, read);
    const translated = await translate(route, job, read, model, signal, stream?.begin);
    const counting = { http, model: model.id, counter };
    const continued =
      stream && (await withClientErrors(prepareContinuation(stream, translated, engine, counting, signal), signal));
    const request = continued?.request ?? translated;
    const begun = engine.repeatsBegun === true && !job.stream ? readBegunAnswer(request) : undefined;
    const { body, headers } = writeRequest(format, request, read.write);
    // Lists that were not read cannot be counted.
    const estimated = unread && read.hasUnreadLists ? unread.inputTokens : undefined;
    const inputTokens = estimated ?? format.estimateInput(request);
    const isCounted = estimated === undefined && format === countedFormat;
    const isFirst = isCounted && !continued && job.stream && translation.client.beginsWithUsage === true;
    const beside = isFirst ? counter.countAtUpstream(request, countBytes(body), signal) : undefined;
    const countInput = async () => (isCounted ? counter.count(request, model.id, signal) : inputTokens);
    return {
      route,
      ...kept,
      begun,
      body,
      headers,
      continued,
      input: new InputCount(beside, continued?.promptTokens ?? inputTokens),
      fit: fitsOutput ? OutputFit.createFor({ format, request, write: read.write, countInput }) : undefined,
      recordPromptTokens:
        isCounted && !continued ? counter.createCalibration(request, model.id, countBytes(body)) : undefined,
    };
  }

  function serve(request: EngineRequest, job: GrantedJob, reply: Reply, signal: AbortSignal): Promise<JobEnd> {
    const { route, body, headers, input, recalled, usageChunk: ownChunk, begun, fit, continued } = request;
    const { translation, format, path } = route;
    const { model, stream, trace } = job;
    const whole = begun && {
      reply: (answered: JsonObject, answerContext: AnswerContext) =>
        translation.reply(withoutBegun(answered, begun), answerContext),
    };
    const context = { model, job, recalled, usageChunk: ownChunk, promptTokens: () => input.tokens };
    const answerContext = { ...createAnswerContext(translation.client, context), ...continued?.answerContext };
    if (continued?.isComplete) return Promise.resolve(endAnswer(continued, translation, answerContext, reply));
    const goesOn = continued && { stream: () => continuedStream(continued, translation.stream(answerContext)) };
    const relay = {
      http,
      upstream: format,
      translation: { ...translation, ...whole, ...goesOn },
      answerContext,
      stream,
      timeouts,
      write: (piece: string | Uint8Array) => reply.write(piece),
      head: (answered: Record<string, string>) => reply.head(answered),
      room: () => reply.room?.(),
      ready: () => input.wait(),
      fit,
      trace: trace && { parent: trace, ...traced, operation: format.operation, model, stream },
    };
    return relayAnswer(relay, { path, body, headers }, signal);
  }

  /**
   * Waits for the engine's answer.
   * @throws the failure as an error for the client
   */
  async function withClientErrors<Answer>(answer: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      if (isUnreachable(error)) onUnreachable();
      throw toJobError(error, signal);
    }
  }
}
