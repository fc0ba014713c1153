import { randomUUID } from 'node:crypto';
import type { ModelInfo } from '#shared/broker/announcement.ts';
import type { Family, GrantedJob, JobEnd, JobHandler, Reply } from '#shared/broker/job-contract.ts';
import { takeBody } from '#shared/broker/take-body.ts';
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

/** A request to the engine, and what will be needed of it later: it may be large, so nothing else of it is held. */
interface Question {
  body: Buffer;
  /** Tokens of its input, estimated. */
  inputTokens: number;
  learn: ((promptTokens: number) => Promise<void>) | undefined;
}

/** Makes the handler that serves jobs with one engine: translate, adapt, send, translate back. */
export function createHandleJob(options: HandleJobOptions): JobHandler {
  const { http, engine, models, fetchImage, onUnreachable } = options;
  const counter = new TokenCounter(http, engine);

  return async function handleJob(job, reply, signal) {
    const model = models().find(({ id }) => id === job.model);
    if (!model) throw new RouterError('upstream_failed', `The engine no longer serves ${job.model}.`);
    const pair = pairOf(job.family);
    if (job.operation === 'count_tokens') {
      const count = counter.count(await translate(pair, job, model, signal), model.id, signal);
      reply.write(JSON.stringify({ input_tokens: await told(count, signal) }));
      return { usage: noUsage, finishReason: 'stop' };
    }
    const question = questionOf(await translate(pair, job, model, signal), model);
    const end = await told(generate(pair, question, job, reply, signal), signal);
    await question.learn?.(end.usage.promptTokens);
    return end;
  };

  function translate(pair: Pair, job: GrantedJob, model: ModelInfo, signal: AbortSignal): Promise<JsonObject> {
    const translated = pair.request(bodyOf(job), { model: model.id, maxOutput: model.maxOutput });
    return settleImages(engine.adapt(translated, model), fetchImage, signal);
  }

  function questionOf(request: JsonObject, model: ModelInfo): Question {
    return {
      body: Buffer.from(JSON.stringify(request)),
      inputTokens: Math.max(1, chatNeeds(request as ChatRequest).inputTokens),
      learn: counter.lesson(request, model.id),
    };
  }

  async function generate(
    pair: Pair,
    { body, inputTokens }: Question,
    job: GrantedJob,
    reply: Reply,
    signal: AbortSignal,
  ): Promise<JobEnd> {
    const minted = { ...mint(job.family, job.model), promptTokens: () => inputTokens };
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

  /** What the engine answers, or its failure in words for the client. */
  async function told<Answer>(answer: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      if (isUnreachable(error)) onUnreachable();
      throw engineFailure(error, signal);
    }
  }
}

/** Engines speak the chat family; tools are no matter of theirs. */
function pairOf(family: Family): Pair {
  if (family === 'tools') throw new RouterError('internal', 'A tool was given to a worker that runs models.');
  return pairFor(family, 'chat');
}

function bodyOf(job: GrantedJob): JsonObject {
  const parsed = parseJson(takeBody(job).toString());
  if (!isJsonObject(parsed)) throw new RouterError('internal', 'The job has no JSON object for a body.');
  return parsed;
}

function mint(family: Family, model: string): Minted {
  const random = randomUUID().replaceAll('-', '');
  const id = family === 'messages' ? `msg_${random}` : `chatcmpl-${random}`;
  return { id, model, created: Math.floor(Date.now() / 1000) };
}
