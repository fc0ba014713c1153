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
  findChangedRequest,
  mayRetryChanged,
  toolsRefusalName,
  type ChangeableRequest,
  type RequestChanges,
  type RefusalToRemember,
} from './after-refusal.ts';
import { countTokens } from './count-tokens.ts';
import type { Provider } from './providers/provider.ts';
import { dropCostlyTier } from './providers/request-rules.ts';
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
  /** Values of `service_tier` with another price that clients may use; all others with another price are dropped. */
  passedTiers?: readonly string[];
  onHead: (status: number, headers: IncomingHttpHeaders) => void;
}

/** Facts about a job that are needed after its body was read. */
interface JobFacts {
  client: string;
  model: ModelInfo;
  /** Headers of the client that are sent to an upstream of the same format. */
  headers: GrantedJob['headers'];
  answerFields: FixedAnswerFields;
  hasTools: boolean;
}

/**
 * A translated request as it is sent, and what the translation of its answer needs. The request as an object may be large and is not kept.
 */
interface WrittenProviderRequest {
  body: Buffer[];
  headers: WrittenRequest['headers'];
  /** Estimated input tokens. */
  inputTokens: number;
  calibrate: ((promptTokens: number) => void) | undefined;
  /** Parts of the client's request that the translation of the answer needs. */
  recalled: JsonObject | undefined;
  usageChunk: boolean;
  /** Lowers the request's limit of output tokens. Keeps the client's body in memory until the provider has accepted the request. */
  fit: OutputFit | undefined;
  turn: PausableTurn | undefined;
  /** Effort level of the request if it is one of the lowest, which the model may refuse; undefined for other levels. */
  leastEffort: MinimalEffort | undefined;
}

interface PreparedRequest extends ChangeableRequest<PreparedRequest> {
  chosen: ChosenFormat;
  request: WrittenProviderRequest;
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
  const tracedProvider = { provider: traceName, server: http.server };
  const counter = new TokenCounter(undefined);
  const refusals = new ModelRefusals();

  return async function handleJob(job, reply, signal) {
    const model = models().find(({ id }) => id === job.model);
    if (!model) throw new RouterError('upstream_failed', `The provider no longer serves ${job.model}.`);
    const { headers, answerId, ownerKey } = job;
    const read = readRequest(job);
    const { tools } = read.request;
    const hasTools = Array.isArray(tools) && tools.length > 0;
    const jobFacts: JobFacts = { client: job.format, model, headers, answerFields: { answerId, ownerKey }, hasTools };
    const chosen = chooseFormatFor(jobFacts, (format) => isRefused(jobFacts, format));
    if (job.operation === 'count_tokens') {
      const count = await withClientErrors(countInputTokens(chosen, jobFacts, read.request, signal), signal);
      reply.write(JSON.stringify(chosen.translation.client.countAnswer?.(count) ?? {}));
      return { usage: noUsage, finishReason: 'stop' };
    }
    return withClientErrors(serve(prepare(chosen, jobFacts, read, signal), jobFacts, job, reply, signal), signal);
  };

  function isRefused({ model, hasTools }: JobFacts, format: string): boolean {
    return refusals.isRefused(model.id, format) || (hasTools && refusals.isRefused(model.id, toolsRefusalName(format)));
  }

  function chooseFormatFor({ model, client }: JobFacts, lacks: (format: string) => boolean): ChosenFormat {
    return chooseFormat(provider, model.id, translations, client, lacks);
  }

  function prepare(
    chosen: ChosenFormat,
    jobFacts: JobFacts,
    body: ParsedRequest,
    signal: AbortSignal,
    changes: RequestChanges = {},
  ): PreparedRequest {
    const { format } = chosen.servedFormat;
    const otherFormat = chooseFormatFor(jobFacts, (name) => name === format.name || isRefused(jobFacts, name));
    const hasOther = changes.isInOtherFormat !== true && otherFormat.servedFormat.format !== format;
    const request = writeProviderRequest(chosen, jobFacts, body, signal, changes.effort);
    return {
      chosen,
      request,
      format: format.name,
      leastEffort: request.leastEffort,
      ...(hasOther && {
        inOtherFormat: () => prepare(otherFormat, jobFacts, body, signal, { ...changes, isInOtherFormat: true }),
      }),
      ...(request.leastEffort !== undefined && {
        withEffort: (effort) => prepare(chosen, jobFacts, body, signal, { ...changes, effort }),
      }),
    };
  }

  /** Serves the request. After a refusal, sends a changed request. If that is answered, remembers the refusal for the model. */
  async function serve(
    first: PreparedRequest,
    jobFacts: JobFacts,
    job: Pick<GrantedJob, 'stream' | 'trace'>,
    reply: Reply,
    signal: AbortSignal,
  ): Promise<JobEnd> {
    const refusalsToRemember: RefusalToRemember[] = [];
    for (let prepared = first; ;) {
      let status = 0;
      const onStatus = (answerStatus: number): void => {
        status = answerStatus;
        if (mayRetryChanged(status)) return;
        // No changed request can follow any more. Drops the functions that keep the client's body in memory.
        prepared.inOtherFormat = undefined;
        prepared.withEffort = undefined;
      };
      try {
        const end = await sendRequest(prepared, jobFacts, job, reply, signal, onStatus);
        for (const { refused: refusedValue, instead } of refusalsToRemember)
          refusals.record(jobFacts.model.id, refusedValue, instead);
        return end;
      } catch (error) {
        const changed = signal.aborted ? undefined : findChangedRequest(error, status, prepared, jobFacts.hasTools);
        if (!changed) throw error;
        refusalsToRemember.push(changed.lesson);
        prepared = changed.prepared;
      }
    }
  }

  function translate(
    translation: Translation,
    { adapt, compacts, encrypts }: Omit<ServedFormat, 'format'>,
    { model, client, answerFields }: JobFacts,
    body: JsonObject,
  ): JsonObject {
    const { takesFiles, takesCustomTools } = provider;
    const { id, maxOutput, thinkingTypes, capabilities } = model;
    const searches = capabilities.includes(hostedCapability('web_search', client));
    const traitFlags = { takesFiles, takesCustomTools, takesPrompts, searches, compacts, encrypts };
    const traits = { model: id, maxOutput, thinkingTypes, origin, ...traitFlags, unseal: createUnseal(answerFields) };
    return dropCostlyTier(adapt(translation.request(body, traits), model), passedTiers);
  }

  function writeProviderRequest(
    { translation, servedFormat }: ChosenFormat,
    jobFacts: JobFacts,
    { request: clientRequest, write }: ParsedRequest,
    signal: AbortSignal,
    effort: string | undefined,
  ): WrittenProviderRequest {
    const recalled = translation.recall?.(clientRequest);
    const { format } = servedFormat;
    const translatedRequest = translate(translation, servedFormat, jobFacts, clientRequest);
    const leastEffort = readMinimalEffort(translatedRequest);
    const acceptedEffort = effort ?? (leastEffort && refusals.findReplacement(jobFacts.model.id, leastEffort));
    const request =
      leastEffort && acceptedEffort !== undefined
        ? withEffort(translatedRequest, acceptedEffort, format === messagesUpstream)
        : translatedRequest;
    const { body, headers } = writeRequest(format, request, write);
    const inputTokens = format.estimateInput(request);
    const countInput = async () =>
      format === countedFormat ? counter.count(request, jobFacts.model.id, signal) : inputTokens;
    return {
      recalled,
      fit: fitsOutput ? OutputFit.createFor({ format, request, write, countInput }) : undefined,
      turn: PausableTurn.createFor({ upstream: format, client: translation.client, request, write }),
      leastEffort: acceptedEffort === undefined ? leastEffort : undefined,
      usageChunk: usageChunk && asksForUsage(clientRequest),
      body,
      headers,
      inputTokens,
      calibrate:
        format === countedFormat ? counter.createCalibration(request, jobFacts.model.id, countBytes(body)) : undefined,
    };
  }

  async function sendRequest(
    { chosen, request }: PreparedRequest,
    { model, headers, answerFields }: JobFacts,
    { stream, trace }: Pick<GrantedJob, 'stream' | 'trace'>,
    reply: Reply,
    signal: AbortSignal,
    onStatus: (status: number) => void,
  ): Promise<JobEnd> {
    const {
      translation,
      servedFormat: { format },
    } = chosen;
    const { body, headers: bodyHeaders, inputTokens, recalled, usageChunk: sendsUsageChunk, fit, turn } = request;
    const relay = {
      http,
      upstream: format,
      translation,
      answerContext: createAnswerContext(translation.client, {
        model: model.id,
        job: answerFields,
        recalled,
        origin,
        usageChunk: sendsUsageChunk,
        promptTokens: () => inputTokens,
      }),
      stream,
      timeouts,
      write: (piece: string | Uint8Array) => reply.write(piece),
      head: (answerHeaders: Record<string, string>) => reply.head(answerHeaders),
      room: () => reply.room?.(),
      fit,
      turn,
      trace: trace && { parent: trace, ...tracedProvider, operation: format.operation, model: model.id, stream },
      onHead: (status: number, answerHeaders: IncomingHttpHeaders) => {
        onStatus(status);
        onHead(status, answerHeaders);
        if (translation.passesHeaders) reply.head(pickHeaders(answerHeaders, translation.client.answerHeaders ?? []));
      },
    };
    const clientHeaders = translation.passesHeaders ? headers : undefined;
    const upstreamRequest = {
      path: format.path,
      body,
      headers: { ...format.headers, ...clientHeaders, ...bodyHeaders },
    };
    const end = await relayAnswer(relay, upstreamRequest, signal);
    if (turn?.isContinued !== true) request.calibrate?.(end.usage.promptTokens);
    return end;
  }

  /** Returns the token count of the provider if it has a path that counts, otherwise the count of the worker's tokenizer. */
  async function countInputTokens(
    { translation, servedFormat }: ChosenFormat,
    jobFacts: JobFacts,
    body: JsonObject,
    signal: AbortSignal,
  ): Promise<number> {
    const { format } = servedFormat;
    const headers = { ...format.headers, ...(translation.passesHeaders && jobFacts.headers) };
    const providerCount =
      format.count &&
      (await countTokens(http, format, translate(translation, servedFormat, jobFacts, body), headers, signal));
    if (providerCount !== undefined) return providerCount;
    const countedServing = servedFormats(provider, jobFacts.model.id).find((each) => each.format === countedFormat);
    const toCounted = findTranslation(translations, jobFacts.client, countedFormat);
    const countedRequest = translate(toCounted, countedServing ?? { adapt: (request) => request }, jobFacts, body);
    return counter.count(countedRequest, jobFacts.model.id, signal);
  }

  async function withClientErrors<Answer>(answer: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      throw toJobError(error, signal);
    }
  }
}
