import { randomUUID } from 'node:crypto';
import type { JsonObject } from '#shared/core/json.ts';
import type { AnswerContext, Translation } from '#shared/translate/translation.ts';
import { createAnswerContext, type UpstreamJob } from './create-answer-context.ts';
import { InputCount } from './input-count.ts';
import { OutputFit } from './output-fit.ts';
import { PausableTurn } from './pausable-turn.ts';
import type { ParsedRequest } from './read-request.ts';
import { countedFormat, type TokenCounter } from './token-counter.ts';
import { countBytes, type UpstreamRequest } from './upstream-http.ts';
import type { HttpUpstreamFormat } from '#shared/translate/upstream-format.ts';

/**
 * A translated request as it is sent to the upstream, with everything that its answer needs. Does not keep the client's request, which may
 * be large. Only `fit` keeps a request, until the upstream has accepted it.
 */
export interface WrittenRequest extends UpstreamRequest {
  job: UpstreamJob;
  route: UpstreamRoute;
  answerContext: AnswerContext;
  input: InputCount;
  /** Lowers the limit of output tokens if the upstream refuses it; undefined if the request is not fitted. */
  fit: OutputFit | undefined;
  /** Continues the answer if the upstream pauses it. */
  turn: PausableTurn | undefined;
  /** Calibrates the token counts with the input tokens that the answer reports. */
  calibrate: ((promptTokens: number) => void) | undefined;
  /** Called with the status of every answer to the request. */
  onStatus?: (status: number) => void;
}

/** The sources of a request besides its translation. */
interface RequestSource {
  job: UpstreamJob;
  read: ParsedRequest;
  signal: AbortSignal;
}

/** Writes the requests of a worker to its upstream. */
export class RequestWriter {
  readonly #counter: TokenCounter;
  readonly #origin: string | undefined;

  /** @param origin see `AnswerContext.origin` */
  constructor(counter: TokenCounter, origin?: string) {
    this.#counter = counter;
    this.#origin = origin;
  }

  /**
   * Writes a translated request, and estimates or counts its input tokens.
   * @param continued the answer that the request continues. The beginning of that answer must not count as input
   */
  write(
    source: RequestSource,
    route: UpstreamRoute,
    request: JsonObject,
    continued?: { promptTokens: number | undefined },
  ): WrittenRequest {
    const { job, read, signal } = source;
    const counter = this.#counter;
    const { translation, format, path } = route;
    const encoded = format.encode?.(request, `rtr-${randomUUID()}`);
    const body = encoded?.body ?? read.write(request);
    // Unread lists cannot be counted.
    const unreadTokens = read.hasUnreadLists ? job.unread?.inputTokens : undefined;
    const inputTokens = unreadTokens ?? format.estimateInput(request);
    const isCountable = unreadTokens === undefined && format === countedFormat;
    const isCounted = isCountable && !continued;
    const bytes = isCounted ? countBytes(body) : 0;
    const beginsWithCount = isCounted && job.stream && translation.client.beginsWithUsage === true;
    const earlyCount = beginsWithCount ? counter.countAtUpstream(request, bytes, signal) : undefined;
    const input = new InputCount(earlyCount, continued?.promptTokens ?? inputTokens);
    return {
      path,
      body,
      headers: createRequestHeaders(route, job, encoded?.contentType),
      job,
      route,
      answerContext: createAnswerContext(translation, job, read.request, input, this.#origin),
      input,
      fit: this.#createFit(source, route, request, isCountable, inputTokens),
      turn: PausableTurn.createFor(format, translation.client, request, read.write),
      calibrate: isCounted ? counter.createCalibration(request, job.model, bytes) : undefined,
    };
  }

  /** This is a separate method, so that no closure that lives as long as the answer keeps the request. */
  #createFit(
    { job, read, signal }: RequestSource,
    { format }: UpstreamRoute,
    request: JsonObject,
    isCountable: boolean,
    inputTokens: number,
  ): OutputFit | undefined {
    const countInput = async () => (isCountable ? this.#counter.count(request, job.model, signal) : inputTokens);
    return OutputFit.createFor({ format, request, write: read.write, countInput });
  }
}

/**
 * Creates the headers of one request, which are added to the headers of all requests.
 * @param contentType the content type of a body that is not JSON
 */
export function createRequestHeaders(
  { format, passesHeaders }: UpstreamRoute,
  job: Pick<UpstreamJob, 'headers'>,
  contentType?: string,
): Readonly<Record<string, string>> {
  const passedHeaders = passesHeaders ? job.headers : undefined;
  if (!passedHeaders && contentType === undefined) return format.headers;
  return { ...format.headers, ...passedHeaders, ...(contentType !== undefined && { 'content-type': contentType }) };
}

/** The route of requests of one client format to an upstream. */
export interface UpstreamRoute {
  translation: Translation;
  format: HttpUpstreamFormat;
  /** Path below the base URL of the upstream's connections. */
  path: string;
  /** Whether the job's headers pass to the upstream, and the answer's headers to the client. */
  passesHeaders: boolean;
}
