import { randomUUID } from 'node:crypto';
import type { ModelInfo } from '#shared/broker/announcement.ts';
import type { Family, GrantedJob, JobEnd, JobHandler, Reply } from '#shared/broker/job-contract.ts';
import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { noUsage } from '#shared/core/usage.ts';
import { chatNeeds } from '#shared/protocol/chat/needs.ts';
import type { ChatRequest } from '#shared/protocol/chat/request.ts';
import { pairFor } from '#shared/protocol/pairs/pair-for.ts';
import type { Minted, Pair } from '#shared/protocol/pairs/pair.ts';
import { engineFailure } from './engine-failure.ts';
import { parseJson, type EngineHttp } from './engine-http.ts';
import type { Engine } from './engines/engine.ts';
import type { ImageFetcher } from './images/image-fetcher.ts';
import { settleImages } from './images/settle-images.ts';
import { isUnreachable } from './is-unreachable.ts';
import { StreamListener } from './stream-listener.ts';
import { TokenCounter } from './token-counter.ts';
import { WholeListener } from './whole-listener.ts';

export interface HandleJobOptions {
  http: EngineHttp;
  engine: Engine;
  /** What the engine serves now. */
  models: () => readonly ModelInfo[];
  fetchImage: ImageFetcher;
  /** Called when nobody listens at the engine's address. */
  onUnreachable: () => void;
  /** Milliseconds, as in the configuration. */
  firstTokenMs: number;
  idleMs: number;
  answerMs: number;
}

/** Makes the handler that serves jobs with one engine: translate, adapt, send, translate back. */
export function createHandleJob(options: HandleJobOptions): JobHandler {
  const { http, engine, models, fetchImage, onUnreachable } = options;
  const counter = new TokenCounter(http, engine);

  return async function handleJob(job, reply, signal) {
    const model = models().find(({ id }) => id === job.model);
    if (!model) throw new RouterError('upstream_failed', `The engine no longer serves ${job.model}.`);
    const pair = pairOf(job.family);
    const translated = pair.request(bodyOf(job), { model: model.id, maxOutput: model.maxOutput });
    const request = await settleImages(engine.adapt(translated, model), fetchImage, signal);
    try {
      if (job.operation === 'count_tokens') {
        reply.write(JSON.stringify({ input_tokens: await counter.count(request, model.id, signal) }));
        return { usage: noUsage, finishReason: 'stop' };
      }
      const end = await generate(pair, request, job, reply, signal);
      await counter.learn(request, model.id, end.usage.promptTokens);
      return end;
    } catch (error) {
      if (isUnreachable(error)) onUnreachable();
      throw engineFailure(error, signal);
    }
  };

  async function generate(
    pair: Pair,
    request: JsonObject,
    job: GrantedJob,
    reply: Reply,
    signal: AbortSignal,
  ): Promise<JobEnd> {
    const body = JSON.stringify(request);
    const promptTokens = (): number => Math.max(1, chatNeeds(request as ChatRequest).inputTokens);
    const minted = { ...mint(job.family, job.model), promptTokens };
    if (job.stream) {
      const listener = new StreamListener(pair.stream(minted), reply);
      await http.generate(body, listener, { firstMs: options.firstTokenMs, idleMs: options.idleMs }, signal);
      return listener.end();
    }
    const listener = new WholeListener();
    await http.generate(body, listener, { firstMs: options.answerMs, idleMs: options.answerMs }, signal);
    const answer = pair.reply(listener.end(), minted);
    reply.write(JSON.stringify(answer.body));
    return answer.ending;
  }
}

/** Engines speak the chat family; tools are no matter of theirs. */
function pairOf(family: Family): Pair {
  if (family === 'tools') throw new RouterError('internal', 'A tool was given to a worker that runs models.');
  return pairFor(family, 'chat');
}

function bodyOf({ body }: GrantedJob): JsonObject {
  const parsed = parseJson(body.toString());
  if (!isJsonObject(parsed)) throw new RouterError('internal', 'The job has no JSON object for a body.');
  return parsed;
}

function mint(family: Family, model: string): Minted {
  const random = randomUUID().replaceAll('-', '');
  const id = family === 'messages' ? `msg_${random}` : `chatcmpl-${random}`;
  return { id, model, created: Math.floor(Date.now() / 1000) };
}
