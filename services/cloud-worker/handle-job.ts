import type { IncomingHttpHeaders } from 'node:http';
import { hostedCapability, type ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { GrantedJob, JobEnd, JobHandler, Reply } from '#shared/broker/contract/job-contract.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { pickHeaders } from '#shared/core/pick-headers.ts';
import { asksForUsage } from '#shared/formats/chat/stream-additions.ts';
import { noUsage } from '#shared/core/usage.ts';
import { findTranslation, type Translation } from '#shared/translate/translation.ts';
import { messagesUpstream } from '#shared/translate/upstreams/messages/messages-upstream.ts';
import { readMinimalEffort, withEffort, type MinimalEffort } from '#shared/upstream/minimal-thinking.ts';
import { createAnswerContext, createUnseal, type FixedAnswerFields } from '#shared/upstream/create-answer-context.ts';
import { ModelRefusals } from '#shared/upstream/model-refusals.ts';
import { OutputFit } from '#shared/upstream/output-fit.ts';
import { PausableTurn } from '#shared/upstream/pausable-turn.ts';
import { readRequest, type ParsedRequest } from '#shared/upstream/read-request.ts';
import { relayAnswer, type AnswerTimeouts } from '#shared/upstream/relay-answer.ts';
import { countedFormat, TokenCounter } from '#shared/upstream/token-counter.ts';
import { toJobError } from '#shared/upstream/upstream-failure.ts';
import { countBytes, type UpstreamHttp } from '#shared/upstream/upstream-http.ts';
import { writeRequest, type WrittenRequest } from '#shared/upstream/write-request.ts';
import {
  changeAfterRefusal,
  mayRetryChanged,
  toolsRefusalName,
  type Changeable,
  type Changes,
  type ObservedRefusal,
} from './after-refusal.ts';
import { countTokens } from './count-tokens.ts';
import type { Provider } from './providers/provider.ts';
import { withUsualTier } from './providers/request-rules.ts';
import { chooseFormat, servedFormats, type ChosenFormat, type ServedFormat } from './providers/served-format.ts';

export interface HandleJobOptions {
  http: UpstreamHttp;
  provider: Provider;
  translations: readonly Translation[];
  traceName: string;
  models: () => readonly ModelInfo[];
  timeouts: AnswerTimeouts;
  /** Whether clients that request the usage of a stream get it in a chunk of its own. */
  usageChunk?: boolean;
  /** Whether a limit of output tokens that the provider refuses is lowered. */
  fitsOutput?: boolean;
  /** Origin of the provider account in the answer context, see `AnswerContext.origin`. */
  origin: string | undefined;
  /** Whether clients may name prompts that are stored in the provider's account. */
  takesPrompts: boolean;
  /** Values of `service_tier` with another price that clients may use; other such values are dropped. */
  passedTiers?: readonly string[];
  onHead: (status: number, headers: IncomingHttpHeaders) => void;
}

/** A job without its body. */
interface JobRequest {
  client: string;
  model: ModelInfo;
  /** Headers of the client that are sent to an upstream of the same format. */
  headers: GrantedJob['headers'];
  fixed: FixedAnswerFields;
  hasTools: boolean;
}

/** A translated request as it is sent, and what its answer needs. The request as an object may be large and is not kept. */
interface ProviderRequest {
  body: Buffer[];
  headers: WrittenRequest['headers'];
  /** Estimated input tokens. */
  inputTokens: number;
  learn: ((promptTokens: number) => void) | undefined;
  /** Parts of the client's request that the translation of the answer needs. */
  recalled: JsonObject | undefined;
  usageChunk: boolean;
  /** Lowers the request's limit of output tokens. Keeps the client's body in memory until the provider has accepted the request. */
  fit: OutputFit | undefined;
  turn: PausableTurn | undefined;
  /** Effort level of the request if it is one of the lowest, which the model may refuse; undefined for other levels. */
  least: MinimalEffort | undefined;
}

interface Prepared extends Changeable<Prepared> {
  chosen: ChosenFormat;
  request: ProviderRequest;
}

/**
 * Creates the job handler for one provider. The handler translates the request, applies the provider's rules, sends the request, and
 * translates the answer back.
 */
export function createHandleJob(options: HandleJobOptions): JobHandler {
  const {
    http,
    provider,
    translations,
    traceName,
    models,
    timeouts,
    origin,
    takesPrompts,
    passedTiers = [],
    usageChunk = false,
    fitsOutput = false,
    onHead,
  } = options;
  const traced = { provider: traceName, server: http.server };
  const counter = new TokenCounter(undefined);
  const refusals = new ModelRefusals();

  return async function handleJob(job, reply, signal) {
    const model = models().find(({ id }) => id === job.model);
    if (!model) throw new RouterError('upstream_failed', `The provider no longer serves ${job.model}.`);
    const { headers, answerId, ownerKey } = job;
    const read = readRequest(job);
    const { tools } = read.request;
    const hasTools = Array.isArray(tools) && tools.length > 0;
    const ask: JobRequest = { client: job.format, model, headers, fixed: { answerId, ownerKey }, hasTools };
    const chosen = formatFor(ask, (format) => isLacking(ask, format));
    if (job.operation === 'count_tokens') {
      const count = await explained(countFor(chosen, ask, read.request, signal), signal);
      reply.write(JSON.stringify(chosen.translation.client.countAnswer?.(count) ?? {}));
      return { usage: noUsage, finishReason: 'stop' };
    }
    return explained(serve(prepare(chosen, ask, read, signal), ask, job, reply, signal), signal);
  };

  function isLacking({ model, hasTools }: JobRequest, format: string): boolean {
    return refusals.isRefused(model.id, format) || (hasTools && refusals.isRefused(model.id, toolsRefusalName(format)));
  }

  function formatFor({ model, client }: JobRequest, lacks: (format: string) => boolean): ChosenFormat {
    return chooseFormat(provider, model.id, translations, client, lacks);
  }

  function prepare(
    chosen: ChosenFormat,
    ask: JobRequest,
    body: ParsedRequest,
    signal: AbortSignal,
    changes: Changes = {},
  ): Prepared {
    const { format } = chosen.served;
    const other = formatFor(ask, (name) => name === format.name || isLacking(ask, name));
    const hasOther = changes.isElsewhere !== true && other.served.format !== format;
    const request = requestOf(chosen, ask, body, signal, changes.effort);
    return {
      chosen,
      request,
      format: format.name,
      leastEffort: request.least,
      ...(hasOther && { inOther: () => prepare(other, ask, body, signal, { ...changes, isElsewhere: true }) }),
      ...(request.least !== undefined && {
        withEffort: (effort) => prepare(chosen, ask, body, signal, { ...changes, effort }),
      }),
    };
  }

  /** Serves the request. After a refusal, repeats it with what was refused changed; if that is answered, remembers it for the model. */
  async function serve(
    first: Prepared,
    ask: JobRequest,
    job: Pick<GrantedJob, 'stream' | 'trace'>,
    reply: Reply,
    signal: AbortSignal,
  ): Promise<JobEnd> {
    const lessons: ObservedRefusal[] = [];
    for (let prepared = first; ;) {
      let status = 0;
      const onStatus = (answered: number): void => {
        status = answered;
        if (mayRetryChanged(status)) return;
        // No changed request can follow any more, so the client's body, which may be large, need not stay in memory.
        prepared.inOther = undefined;
        prepared.withEffort = undefined;
      };
      try {
        const end = await generate(prepared, ask, job, reply, signal, onStatus);
        for (const { refused: what, instead } of lessons) refusals.record(ask.model.id, what, instead);
        return end;
      } catch (error) {
        const next = signal.aborted ? undefined : changeAfterRefusal(error, status, prepared, ask.hasTools);
        if (!next) throw error;
        lessons.push(next.lesson);
        prepared = next.prepared;
      }
    }
  }

  function translated(
    translation: Translation,
    { adapt, compacts, encrypts }: Omit<ServedFormat, 'format'>,
    { model, client, fixed }: JobRequest,
    body: JsonObject,
  ): JsonObject {
    const { takesFiles, takesCustomTools } = provider;
    const { id, maxOutput, thinkingTypes, capabilities } = model;
    const searches = capabilities.includes(hostedCapability('web_search', client));
    const takes = { takesFiles, takesCustomTools, takesPrompts, searches, compacts, encrypts };
    const traits = { model: id, maxOutput, thinkingTypes, origin, ...takes, unseal: createUnseal(fixed) };
    return withUsualTier(adapt(translation.request(body, traits), model), passedTiers);
  }

  function requestOf(
    { translation, served }: ChosenFormat,
    ask: JobRequest,
    { request: clientRequest, write }: ParsedRequest,
    signal: AbortSignal,
    effort: string | undefined,
  ): ProviderRequest {
    const recalled = translation.recall?.(clientRequest);
    const { format } = served;
    const translatedRequest = translated(translation, served, ask, clientRequest);
    const least = readMinimalEffort(translatedRequest);
    const instead = effort ?? (least && refusals.findReplacement(ask.model.id, least));
    const request =
      least && instead !== undefined
        ? withEffort(translatedRequest, instead, format === messagesUpstream)
        : translatedRequest;
    const { body, headers } = writeRequest(format, request, write);
    const inputTokens = format.estimateInput(request);
    const countInput = async () =>
      format === countedFormat ? counter.count(request, ask.model.id, signal) : inputTokens;
    return {
      recalled,
      fit: fitsOutput ? OutputFit.createFor({ format, request, write, countInput }) : undefined,
      turn: PausableTurn.createFor({ upstream: format, client: translation.client, request, write }),
      least: instead === undefined ? least : undefined,
      usageChunk: usageChunk && asksForUsage(clientRequest),
      body,
      headers,
      inputTokens,
      learn: format === countedFormat ? counter.createCalibration(request, ask.model.id, countBytes(body)) : undefined,
    };
  }

  async function generate(
    { chosen, request }: Prepared,
    { model, headers, fixed }: JobRequest,
    { stream, trace }: Pick<GrantedJob, 'stream' | 'trace'>,
    reply: Reply,
    signal: AbortSignal,
    onStatus: (status: number) => void,
  ): Promise<JobEnd> {
    const {
      translation,
      served: { format },
    } = chosen;
    const { body, headers: written, inputTokens, recalled, usageChunk: ownChunk, fit, turn } = request;
    const relay = {
      http,
      upstream: format,
      translation,
      answerContext: createAnswerContext(translation.client, {
        model: model.id,
        job: fixed,
        recalled,
        origin,
        usageChunk: ownChunk,
        promptTokens: () => inputTokens,
      }),
      stream,
      timeouts,
      write: (piece: string | Uint8Array) => reply.write(piece),
      head: (answered: Record<string, string>) => reply.head(answered),
      room: () => reply.room?.(),
      fit,
      turn,
      trace: trace && { parent: trace, ...traced, operation: format.operation, model: model.id, stream },
      onHead: (status: number, answered: IncomingHttpHeaders) => {
        onStatus(status);
        onHead(status, answered);
        if (translation.passesHeaders) reply.head(pickHeaders(answered, translation.client.answerHeaders ?? []));
      },
    };
    const passed = translation.passesHeaders ? headers : undefined;
    const sent = { path: format.path, body, headers: { ...format.headers, ...passed, ...written } };
    const end = await relayAnswer(relay, sent, signal);
    if (turn?.isContinued !== true) request.learn?.(end.usage.promptTokens);
    return end;
  }

  /** Returns the token count of the provider if it has a path for that, otherwise the count of the tokenizer. */
  async function countFor(
    { translation, served }: ChosenFormat,
    ask: JobRequest,
    body: JsonObject,
    signal: AbortSignal,
  ): Promise<number> {
    const { format } = served;
    const headers = { ...format.headers, ...(translation.passesHeaders && ask.headers) };
    const theirs =
      format.count && (await countTokens(http, format, translated(translation, served, ask, body), headers, signal));
    if (theirs !== undefined) return theirs;
    const here = servedFormats(provider, ask.model.id).find((served) => served.format === countedFormat);
    const toCounted = findTranslation(translations, ask.client, countedFormat);
    const counted = translated(toCounted, here ?? { adapt: (request) => request }, ask, body);
    return counter.count(counted, ask.model.id, signal);
  }

  async function explained<Answer>(answer: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      throw toJobError(error, signal);
    }
  }
}
