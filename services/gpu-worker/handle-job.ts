import type { ModelInfo } from '#shared/broker/announcement.ts';
import type { GrantedJob, JobEnd, JobHandler, Reply } from '#shared/broker/job-contract.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { noUsage } from '#shared/core/usage.ts';
import { chatNeeds } from '#shared/protocol/chat/needs.ts';
import type { ChatRequest } from '#shared/protocol/chat/request.ts';
import { pairFor, type ModelFamily } from '#shared/protocol/pairs/pair-for.ts';
import { dialects } from '#shared/upstream/dialects.ts';
import { isUnreachable } from '#shared/upstream/is-unreachable.ts';
import { mint } from '#shared/upstream/mint.ts';
import { modelFamily } from '#shared/upstream/model-family.ts';
import { parseRequest } from '#shared/upstream/parse-request.ts';
import { relayAnswer, type AnswerBounds } from '#shared/upstream/relay-answer.ts';
import { upstreamFailure } from '#shared/upstream/upstream-failure.ts';
import { countTokens } from './count-tokens.ts';
import type { EngineHttp } from './engine-http.ts';
import type { Engine } from './engines/engine.ts';
import type { ImageFetcher } from './images/image-fetcher.ts';
import { settleImages } from './images/settle-images.ts';

export interface HandleJobOptions extends AnswerBounds {
  http: EngineHttp;
  engine: Engine;
  /** What the engine serves now. */
  models: () => readonly ModelInfo[];
  fetchImage: ImageFetcher;
  /** Called when nobody listens at the engine's address. */
  onUnreachable: () => void;
}

/** Makes the handler that serves jobs with one engine: translate, adapt, send, translate back. */
export function createHandleJob(options: HandleJobOptions): JobHandler {
  const { http, engine, models, fetchImage, onUnreachable } = options;

  return async function handleJob(job, reply, signal) {
    const model = models().find(({ id }) => id === job.model);
    if (!model) throw new RouterError('upstream_failed', `The engine no longer serves ${job.model}.`);
    const client = modelFamily(job.family);
    const translated = pairFor(client, 'chat').request(parseRequest(job.body), {
      model: model.id,
      maxOutput: model.maxOutput,
    });
    const request = await settleImages(engine.adapt(translated, model), engine.fetchesImages, fetchImage, signal);
    try {
      if (job.operation === 'count_tokens') return await count(request, reply, signal);
      return await generate(client, request, job, reply, signal);
    } catch (error) {
      if (isUnreachable(error)) onUnreachable();
      throw upstreamFailure(error, signal);
    }
  };

  function generate(
    client: ModelFamily,
    request: JsonObject,
    job: GrantedJob,
    reply: Reply,
    signal: AbortSignal,
  ): Promise<JobEnd> {
    const promptTokens = chatNeeds(request as ChatRequest).inputTokens;
    const relay = {
      http,
      dialect: dialects.chat,
      pair: pairFor(client, 'chat'),
      minted: mint(client, job.model, () => promptTokens),
      stream: job.stream,
      bounds: options,
      write: (text: string) => reply.write(text),
    };
    return relayAnswer(relay, { path: '/v1/chat/completions', body: JSON.stringify(request) }, signal);
  }

  async function count(request: JsonObject, reply: Reply, signal: AbortSignal): Promise<JobEnd> {
    const tokens = await countTokens({ http, engine, request, signal });
    reply.write(JSON.stringify({ input_tokens: tokens }));
    return { usage: noUsage, finishReason: 'stop' };
  }
}
