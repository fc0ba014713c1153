import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { GrantedJob, JobEnd, Reply } from '#shared/broker/contract/job-contract.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { Translation } from '#shared/translate/translation.ts';
import { createUnseal } from '#shared/upstream/create-answer-context.ts';
import { relayAnswer } from '#shared/upstream/relay-answer.ts';
import type { RelayedUpstream } from '#shared/upstream/relay.ts';
import { RequestWriter, type WrittenRequest, type UpstreamRoute } from '#shared/upstream/request-writer.ts';
import { TokenCounter } from '#shared/upstream/token-counter.ts';
import type { JobUpstream, ParsedJob } from '#shared/worker/job-upstream.ts';
import { readBegunStream, type BegunStream } from './continuation/begun-stream.ts';
import { throwCannotContinueIfRefused } from './continuation/cannot-continue.ts';
import {
  applyContinuation,
  endAnswer,
  prepareContinuation,
  type ContinuedAnswer,
} from './continuation/continue-answer.ts';
import type { EngineHttp } from './engine-http.ts';
import { EngineRoutes } from './engine-routes.ts';
import { engineChatFormat, type Engine } from './engines/engine.ts';
import type { ImageFetcher } from './images/image-fetcher.ts';
import { inlineImages, mayNameImages } from './images/inline-images.ts';
import { addInputTokens } from './requests/add-input-tokens.ts';
import { readAnswerBeginning, removeBeginningFromReplies } from './requests/answer-beginning.ts';
import { addCacheSalt, removeSteeringFields } from './requests/engine-fields.ts';

export interface EngineUpstreamOptions extends Pick<RelayedUpstream, 'timeouts'> {
  http: EngineHttp;
  engine: Engine;
  translations: readonly Translation[];
  models: () => readonly ModelInfo[];
  fetchImage: ImageFetcher;
  /** Names of fields that steer the engine and that clients may set. */
  allowedSteeringFields?: readonly string[];
  /** Called when the engine refuses connections. */
  onUnreachable: () => void;
}

/** A request to an engine, with the answer that the request continues, if any. */
interface EngineRequest extends WrittenRequest {
  continued?: ContinuedAnswer;
}

/** Serves jobs with one engine. */
export class EngineUpstream implements JobUpstream<UpstreamRoute, EngineRequest> {
  readonly noun = 'engine';
  readonly models: EngineUpstreamOptions['models'];
  readonly onUnreachable: EngineUpstreamOptions['onUnreachable'];
  readonly #options: EngineUpstreamOptions;
  readonly #routes: EngineRoutes;
  readonly #counter: TokenCounter;
  readonly #writer: RequestWriter;
  readonly #relayed: RelayedUpstream;

  constructor(options: EngineUpstreamOptions) {
    const { http, engine, translations, models, timeouts, onUnreachable } = options;
    this.models = models;
    this.onUnreachable = onUnreachable;
    this.#options = options;
    this.#routes = new EngineRoutes(engine, translations);
    this.#counter = new TokenCounter(engine.countTokens?.bind(engine, http));
    this.#writer = new RequestWriter(this.#counter);
    this.#relayed = { http, traceName: engine.kind, timeouts };
  }

  /**
   * Whether lists may stay unparsed. Only formats whose route does not depend on the request allow this, so the route is known before the
   * request is read.
   */
  passesLists({ format, relayed }: GrantedJob): boolean {
    return !relayed && this.#routes.findUsual(format).translation.passesLists === true;
  }

  chooseRoute({ format }: GrantedJob, _model: ModelInfo, request: JsonObject): UpstreamRoute {
    return this.#routes.choose(format, request);
  }

  prepare(parsed: ParsedJob, route: UpstreamRoute): Promise<EngineRequest> {
    const begunStream = readBegunStream(parsed.job, this.#options.engine, route, parsed.read);
    return begunStream
      ? throwCannotContinueIfRefused(this.#continue(parsed, route, begunStream))
      : this.#begin(parsed, route);
  }

  async countInput(parsed: ParsedJob, route: UpstreamRoute): Promise<number> {
    return this.#counter.count(await this.#translate(parsed, route), parsed.model.id, parsed.signal);
  }

  async send(request: EngineRequest, reply: Reply, signal: AbortSignal): Promise<JobEnd> {
    const { continued } = request;
    if (continued?.isComplete === true) return endAnswer(request, continued, reply);
    const relay = { upstream: this.#relayed, request, reply, signal };
    if (continued) return throwCannotContinueIfRefused(relayAnswer(relay));
    try {
      return await relayAnswer(relay);
    } catch (error) {
      const { engine, http } = this.#options;
      throw await addInputTokens(error, request, engine, http, signal);
    }
  }

  async #begin(parsed: ParsedJob, route: UpstreamRoute): Promise<WrittenRequest> {
    const request = await this.#translate(parsed, route);
    const written = this.#writer.write(parsed, route, request);
    const mayRepeat = this.#options.engine.repeatsBeginning === true && !parsed.job.stream;
    const beginning = mayRepeat ? readAnswerBeginning(request) : undefined;
    if (beginning) written.route = { ...route, translation: removeBeginningFromReplies(route.translation, beginning) };
    return written;
  }

  async #continue(parsed: ParsedJob, route: UpstreamRoute, begunStream: BegunStream): Promise<EngineRequest> {
    const { model, signal } = parsed;
    const { engine, http } = this.#options;
    const translated = await this.#translate(parsed, route, begunStream.addBeginning);
    const counting = { http, model: model.id, counter: this.#counter };
    const { continued, request } = await prepareContinuation(begunStream, translated, engine, counting, signal);
    const written: EngineRequest = this.#writer.write(parsed, route, request, continued);
    applyContinuation(written, continued);
    written.continued = continued;
    return written;
  }

  #translate(
    { job, model, read, signal }: ParsedJob,
    { translation, format }: UpstreamRoute,
    addBeginning?: BegunStream['addBeginning'],
  ): JsonObject | Promise<JsonObject> {
    const { engine, fetchImage, allowedSteeringFields = [] } = this.#options;
    const { makesOneChoice } = engine;
    const { id, maxOutput, capabilities } = model;
    const switchesThinking = engine.switchesThinking === true && capabilities.includes('thinking');
    const traits = { model: id, maxOutput, switchesThinking, makesOneChoice, unseal: createUnseal(job) };
    // Of the client's request: a translation may write such a field itself.
    const unsalted = translation.translateRequest(removeSteeringFields(read.request, allowedSteeringFields), traits);
    const isSalted = engine.saltsCaches === true && ['generate', 'complete'].includes(format.operation);
    const salted = isSalted ? addCacheSalt(unsalted, job.ownerKey) : unsalted;
    const translated = addBeginning?.(salted) ?? salted;
    if (format !== engineChatFormat) return translated;
    const request = engine.adapt(translated, model);
    if (!read.skim(() => mayNameImages(request))) return request;
    const findClientPath = (url: string) => translation.findUrlPath?.(read.request, url);
    return inlineImages(request, fetchImage, signal, findClientPath);
  }
}
