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
import { prepareContinuation, translateRest, endAnswer, type ContinuedAnswer } from './continuation/continue-answer.ts';
import { cannotContinueIfRefused } from './continuation/cannot-continue.ts';
import { addCacheSalt, removeSteeringFields } from './requests/engine-fields.ts';
import { readAnswerBeginning, removeBeginning, type AnswerBeginning } from './requests/answer-beginning.ts';

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
  allowedSteeringFields?: readonly string[];
  /** Called when the engine refuses connections. */
  onUnreachable: () => void;
}

/** The parts of a request that are needed after it was written for the engine. The rest may be large and is not kept. */
interface EngineRequest {
  route: EngineRoute;
  body: Buffer[];
  headers: WrittenRequest['headers'];
  input: InputCount;
  recordPromptTokens: ((promptTokens: number) => void) | undefined;
  /** Fields of the client's request that the translation of the answer needs. */
  recalled: JsonObject | undefined;
  usageChunk: boolean;
  /** Lowers the limit of output tokens. Keeps the client's body in memory until the engine has accepted the request. */
  fit: OutputFit | undefined;
  /** The beginning that the engine repeats and that must be removed from an unstreamed answer. */
  beginning: AnswerBeginning | undefined;
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
    allowedSteeringFields = [],
    onUnreachable,
  } = options;
  const tracedEngine = { provider: engine.kind, server: http.server };
  const counter = new TokenCounter(engine.countTokens?.bind(engine, http));

  return async function handleJob(job, reply, signal) {
    const model = models().find(({ id }) => id === job.model);
    if (!model) throw new RouterError('upstream_failed', `The engine no longer serves ${job.model}.`);
    if (job.operation === 'count_tokens') {
      const clientJob = readRequest(job);
      const route = chooseRoute(job, clientJob);
      const count = counter.count(await translate(route, job, clientJob, model, signal), model.id, signal);
      reply.write(JSON.stringify(route.translation.client.countAnswer?.(await withClientErrors(count, signal)) ?? {}));
      return { usage: noUsage, finishReason: 'stop' };
    }
    if (job.relayed) return cannotContinueIfRefused(answerJob(job, model, reply, signal));
    return answerJob(job, model, reply, signal);
  };

  async function answerJob(job: GrantedJob, model: ModelInfo, reply: Reply, signal: AbortSignal): Promise<JobEnd> {
    const engineRequest = await prepareRequest(job, model, signal);
    const end = await withClientErrors(sendToEngine(engineRequest, job, reply, signal), signal).catch(
      async (error: unknown) => {
        throw await addInputTokens(error, engineRequest, signal);
      },
    );
    engineRequest.recordPromptTokens?.(end.usage.promptTokens);
    return end;
  }

  /**
   * If an engine's error says that the request does not fit, but not how long it is, adds the number of its tokens. Returns other errors
   * unchanged.
   */
  async function addInputTokens(
    error: unknown,
    { route, body, continued }: EngineRequest,
    signal: AbortSignal,
  ): Promise<unknown> {
    if (!engine.countTokens || route.format !== countedFormat || continued || !lacksInputTokens(error)) return error;
    const sentRequest = JSON.parse(Buffer.concat(body).toString()) as JsonObject;
    try {
      return withInputTokens(
        error,
        await engine.countTokens(http, sentRequest, AbortSignal.any([signal, AbortSignal.timeout(countMs)])),
      );
    } catch {
      // The error is complete without the count.
      return error;
    }
  }

  function chooseRoute({ format }: GrantedJob, { request: clientRequest }: ParsedRequest): EngineRoute {
    return chooseEngineRoute(engine, translations, format, clientRequest);
  }

  async function translate(
    { translation, format }: EngineRoute,
    job: GrantedJob,
    { request: clientRequest, skim }: ParsedRequest,
    model: ModelInfo,
    signal: AbortSignal,
    begin: BegunStream['addBeginning'] = (translated) => translated,
  ): Promise<JsonObject> {
    const switchesThinking = engine.switchesThinking === true && model.capabilities.includes('thinking');
    const { makesOneChoice } = engine;
    const { id, maxOutput } = model;
    const target = { model: id, maxOutput, switchesThinking, makesOneChoice, unseal: createUnseal(job) };
    const unsalted = removeSteeringFields(translation.request(clientRequest, target), allowedSteeringFields);
    const isSalted = engine.saltsCaches === true && ['generate', 'complete'].includes(format.operation);
    const translated = begin(isSalted ? addCacheSalt(unsalted, job.ownerKey) : unsalted);
    if (format !== engineChatFormat) return translated;
    const request = engine.adapt(translated, model);
    if (!skim(() => mayNameImages(request))) return request;
    const clientPath = (address: string): string | undefined => translation.pathOfAddress?.(clientRequest, address);
    return inlineImages(request, fetchImage, signal, clientPath);
  }

  async function prepareRequest(job: GrantedJob, model: ModelInfo, signal: AbortSignal): Promise<EngineRequest> {
    // `passesLists` holds only for formats whose route does not depend on a suffix, so the route is known before the request is read.
    const { translation: usualTranslation } = chooseEngineRoute(engine, translations, job.format, {});
    const unreadLists = usualTranslation.passesLists === true && !job.relayed ? job.unread : undefined;
    const read = readRequest(job, unreadLists?.lists);
    const route = chooseRoute(job, read);
    const { translation, format } = route;
    const answerFields = {
      recalled: translation.recall?.(read.request),
      usageChunk: usageChunk && asksForUsage(read.request),
    };
    const stream = readBegunStream(job, engine, route, read);
    const translated = await translate(route, job, read, model, signal, stream?.addBeginning);
    const counting = { http, model: model.id, counter };
    const continued =
      stream && (await withClientErrors(prepareContinuation(stream, translated, engine, counting, signal), signal));
    const request = continued?.request ?? translated;
    const beginning = engine.repeatsBeginning === true && !job.stream ? readAnswerBeginning(request) : undefined;
    const { body, headers } = writeRequest(format, request, read.write);
    // Lists that were not read cannot be counted.
    const estimatedTokens = unreadLists && read.hasUnreadLists ? unreadLists.inputTokens : undefined;
    const inputTokens = estimatedTokens ?? format.estimateInput(request);
    const isCounted = estimatedTokens === undefined && format === countedFormat;
    const beginsWithCount = isCounted && !continued && job.stream && translation.client.beginsWithUsage === true;
    const earlyCount = beginsWithCount ? counter.countAtUpstream(request, countBytes(body), signal) : undefined;
    const countInput = async () => (isCounted ? counter.count(request, model.id, signal) : inputTokens);
    return {
      route,
      ...answerFields,
      beginning,
      body,
      headers,
      continued,
      input: new InputCount(earlyCount, continued?.promptTokens ?? inputTokens),
      fit: fitsOutput ? OutputFit.createFor({ format, request, write: read.write, countInput }) : undefined,
      recordPromptTokens:
        isCounted && !continued ? counter.createCalibration(request, model.id, countBytes(body)) : undefined,
    };
  }

  function sendToEngine(request: EngineRequest, job: GrantedJob, reply: Reply, signal: AbortSignal): Promise<JobEnd> {
    const { route, body, headers, input, recalled, usageChunk: sendsUsageChunk, beginning, fit, continued } = request;
    const { translation, format, path } = route;
    const { model, stream, trace } = job;
    const replyTranslation = beginning && {
      reply: (answer: JsonObject, answerContext: AnswerContext) =>
        translation.reply(removeBeginning(answer, beginning), answerContext),
    };
    const context = { model, job, recalled, usageChunk: sendsUsageChunk, promptTokens: () => input.tokens };
    const answerContext = { ...createAnswerContext(translation.client, context), ...continued?.answerContext };
    if (continued?.isComplete) return Promise.resolve(endAnswer(continued, translation, answerContext, reply));
    const streamTranslation = continued && {
      stream: () => translateRest(continued, translation.stream(answerContext)),
    };
    const relay = {
      http,
      upstream: format,
      translation: { ...translation, ...replyTranslation, ...streamTranslation },
      answerContext,
      stream,
      timeouts,
      write: (piece: string | Uint8Array) => reply.write(piece),
      head: (answerHeaders: Record<string, string>) => reply.head(answerHeaders),
      room: () => reply.room?.(),
      ready: () => input.wait(),
      fit,
      trace: trace && { parent: trace, ...tracedEngine, operation: format.operation, model, stream },
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
