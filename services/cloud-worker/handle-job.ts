import type { IncomingHttpHeaders } from 'node:http';
import { hostedCapability, type ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { GrantedJob, JobEnd, JobHandler, Reply } from '#shared/broker/contract/job-contract.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { noUsage } from '#shared/core/usage.ts';
import { findTranslation, type Translation } from '#shared/translate/translation.ts';
import { mint, unsealOf, type Fixed } from '#shared/upstream/mint.ts';
import { readRequest } from '#shared/upstream/read-request.ts';
import { relayAnswer, type AnswerTimeouts } from '#shared/upstream/relay-answer.ts';
import { countedFormat, TokenCounter } from '#shared/upstream/token-counter.ts';
import { upstreamFailure } from '#shared/upstream/upstream-failure.ts';
import type { UpstreamHttp } from '#shared/upstream/upstream-http.ts';
import { countTokens } from './count-tokens.ts';
import type { Provider } from './providers/provider.ts';
import { chooseFormat, servedFormats, type Chosen, type ServedFormat } from './providers/served-format.ts';

export interface HandleJobOptions {
  http: UpstreamHttp;
  provider: Provider;
  translations: readonly Translation[];
  /** Name of the provider in traces. */
  traceName: string;
  /** Returns the models that the provider serves now. */
  models: () => readonly ModelInfo[];
  timeouts: AnswerTimeouts;
  /** See `Minted.origin`. */
  origin: string;
  /** Whether clients may name prompts that are stored in the provider's account. */
  takesPrompts: boolean;
  /** Called with the status and headers of every answer. */
  onHead: (status: number, headers: IncomingHttpHeaders) => void;
}

/** A job without its body. */
interface Ask {
  /** Name of the client's format. */
  client: string;
  model: ModelInfo;
  /** The client's headers that pass to an upstream of the same format. */
  headers: GrantedJob['headers'];
  fixed: Fixed;
}

/** A translated request. It may be large, so only these parts of it are kept. */
interface ProviderRequest {
  body: Buffer;
  /** Input tokens, estimated. */
  inputTokens: number;
  learn: ((promptTokens: number) => void) | undefined;
  /** What the translation of the answer keeps of the client's request. */
  recalled: JsonObject | undefined;
}

/** Makes the handler that serves jobs with one provider: translates, applies the provider's rules, sends, translates back. */
export function createHandleJob(options: HandleJobOptions): JobHandler {
  const { http, provider, translations, traceName, models, timeouts, origin, takesPrompts, onHead } = options;
  const traced = { provider: traceName, server: http.server };
  const counter = new TokenCounter(undefined);

  return async function handleJob(job, reply, signal) {
    const model = models().find(({ id }) => id === job.model);
    if (!model) throw new RouterError('upstream_failed', `The provider no longer serves ${job.model}.`);
    const { headers, answerId, ownerKey } = job;
    const ask: Ask = { client: job.format, model, headers, fixed: { answerId, ownerKey } };
    const chosen = chooseFormat(provider, model.id, translations, ask.client);
    if (job.operation === 'count_tokens') {
      const count = await explained(countFor(chosen, ask, readRequest(job), signal), signal);
      reply.write(JSON.stringify(chosen.translation.client.countAnswer?.(count) ?? {}));
      return { usage: noUsage, finishReason: 'stop' };
    }
    const request = requestOf(chosen, ask, readRequest(job));
    const end = await explained(generate(chosen, ask, request, job, reply, signal), signal);
    request.learn?.(end.usage.promptTokens);
    return end;
  };

  function translated(
    translation: Translation,
    { adapt, compacts, encrypts }: Omit<ServedFormat, 'format'>,
    { model, client, fixed }: Ask,
    body: JsonObject,
  ): JsonObject {
    const { takesFiles } = provider;
    const { id, maxOutput, capabilities } = model;
    const searches = capabilities.includes(hostedCapability('web_search', client));
    const takes = { takesFiles, takesPrompts, searches, compacts, encrypts };
    const target = { model: id, maxOutput, origin, ...takes, unseal: unsealOf(fixed) };
    return adapt(translation.request(body, target), model);
  }

  function requestOf({ translation, served }: Chosen, ask: Ask, body: JsonObject): ProviderRequest {
    const recalled = translation.recall?.(body);
    const request = translated(translation, served, ask, body);
    const { format } = served;
    return {
      recalled,
      body: Buffer.from(JSON.stringify(request)),
      inputTokens: format.estimateInput(request),
      learn: format === countedFormat ? counter.lesson(request, ask.model.id) : undefined,
    };
  }

  function generate(
    { translation, served: { format } }: Chosen,
    { model, headers, fixed }: Ask,
    { body, inputTokens, recalled }: ProviderRequest,
    { stream, trace }: Pick<GrantedJob, 'stream' | 'trace'>,
    reply: Reply,
    signal: AbortSignal,
  ): Promise<JobEnd> {
    const relay = {
      http,
      upstream: format,
      translation,
      minted: mint(translation.client, {
        model: model.id,
        job: fixed,
        recalled,
        origin,
        promptTokens: () => inputTokens,
      }),
      stream,
      timeouts,
      write: (text: string) => reply.write(text),
      room: () => reply.room?.(),
      trace: trace && { parent: trace, ...traced, model: model.id, stream },
      onHead,
    };
    const passed = translation.passesHeaders ? headers : undefined;
    return relayAnswer(relay, { path: format.path, body, headers: { ...format.headers, ...passed } }, signal);
  }

  /** Returns the provider's token count if it has a path for it, otherwise the tokenizer's. */
  async function countFor(
    { translation, served }: Chosen,
    ask: Ask,
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

  /** Resolves to the provider's answer. Rejects with its failure as an error for the client. */
  async function explained<Answer>(answer: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      throw upstreamFailure(error, signal);
    }
  }
}
