import type { IncomingHttpHeaders } from 'node:http';
import type { ModelInfo } from '#shared/broker/contract/announcement.ts';
import type { GrantedJob, JobEnd, JobHandler, Reply } from '#shared/broker/contract/job-contract.ts';
import { takeBody } from '#shared/broker/contract/take-body.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { noUsage } from '#shared/core/usage.ts';
import { chatNeeds } from '#shared/formats/chat/needs.ts';
import type { ChatRequest } from '#shared/formats/chat/request.ts';
import { messagesNeeds } from '#shared/formats/messages/needs.ts';
import type { MessagesRequest } from '#shared/formats/messages/request.ts';
import { pairFor, type FormatName } from '#shared/translate/translations.ts';
import { dialects } from '#shared/translate/upstreams/upstream-formats.ts';
import { mint } from '#shared/upstream/mint.ts';
import { formatOf } from '#shared/upstream/model-format.ts';
import { parseRequest } from '#shared/upstream/parse-request.ts';
import { relayAnswer, type AnswerBounds } from '#shared/upstream/relay-answer.ts';
import { TokenCounter } from '#shared/upstream/token-counter.ts';
import { isUnreachable, upstreamFailure } from '#shared/upstream/upstream-failure.ts';
import type { UpstreamHttp } from '#shared/upstream/upstream-http.ts';
import { countTokens } from './count-tokens.ts';
import type { Provider } from './providers/provider.ts';
import { applyRules } from './requests/apply-rules.ts';

export interface HandleJobOptions {
  http: UpstreamHttp;
  provider: Provider;
  /** Its name in traces. */
  traceName: string;
  /** What the provider serves now. */
  models: () => readonly ModelInfo[];
  bounds: AnswerBounds;
  /** Hears of every answer's beginning. */
  onHead: (status: number, headers: IncomingHttpHeaders) => void;
  /** Called when the provider refuses work for now or cannot be reached, with the seconds to wait where it tells. */
  onRefused: (seconds: number | undefined) => void;
}

const paths: Readonly<Record<FormatName, string>> = { chat: '/chat/completions', messages: '/messages' };

/** A job on its way to the provider, without its body. */
interface Asked {
  client: FormatName;
  model: ModelInfo;
  /** The client's headers, where they mean something to the provider: it must be of the same format. */
  headers: GrantedJob['headers'];
}

/** A request to the provider, and what will be needed of it later: it may be large, so nothing else of it is held. */
interface Question {
  body: Buffer;
  /** Tokens of its input, estimated. */
  inputTokens: number;
  learn: ((promptTokens: number) => void) | undefined;
}

/** Makes the handler that serves jobs with one provider: translate, fit to its rules, send, translate back. */
export function createHandleJob({
  http,
  provider,
  traceName,
  models,
  bounds,
  onHead,
  onRefused,
}: HandleJobOptions): JobHandler {
  const { format } = provider;
  const traced = { provider: traceName, server: http.server };
  const counter = new TokenCounter(undefined);

  return async function handleJob(job, reply, signal) {
    const model = models().find(({ id }) => id === job.model);
    if (!model) throw new RouterError('upstream_failed', `The provider no longer serves ${job.model}.`);
    const client = formatOf(job.format);
    const asked: Asked = { client, model, headers: client === format ? job.headers : undefined };
    if (job.operation === 'count_tokens') {
      const count = countFor(asked, parseRequest(takeBody(job)), signal);
      reply.write(JSON.stringify({ input_tokens: await told(count, signal) }));
      return { usage: noUsage, finishReason: 'stop' };
    }
    const question = questionOf(asked, parseRequest(takeBody(job)));
    const end = await told(generate(asked, question, job, reply, signal), signal);
    question.learn?.(end.usage.promptTokens);
    return end;
  };

  function requestFor({ client, model }: Asked, body: JsonObject, upstream: FormatName): JsonObject {
    const target = { model: model.id, maxOutput: model.maxOutput, takesFiles: provider.takesFiles };
    const request = applyRules(pairFor(client, upstream).request(body, target), provider.rules);
    return provider.adaptation?.apply(request, model) ?? request;
  }

  function questionOf(asked: Asked, body: JsonObject): Question {
    const request = requestFor(asked, body, format);
    return {
      body: Buffer.from(JSON.stringify(request)),
      inputTokens: inputTokens(request, format),
      learn: format === 'chat' ? counter.lesson(request, asked.model.id) : undefined,
    };
  }

  function generate(
    { client, model, headers }: Asked,
    { body, inputTokens }: Question,
    { stream, trace }: Pick<GrantedJob, 'stream' | 'trace'>,
    reply: Reply,
    signal: AbortSignal,
  ): Promise<JobEnd> {
    const relay = {
      http,
      dialect: dialects[format],
      pair: pairFor(client, format),
      minted: mint(client, model.id, inputTokens),
      stream,
      bounds,
      write: (text: string) => reply.write(text),
      trace: trace && { parent: trace, ...traced, model: model.id, stream },
      onHead,
    };
    return relayAnswer(relay, { path: paths[format], body, headers }, signal);
  }

  async function countFor(asked: Asked, body: JsonObject, signal: AbortSignal): Promise<number> {
    const { model, headers } = asked;
    const theirs =
      format === 'messages' ? await countTokens(http, requestFor(asked, body, format), headers, signal) : undefined;
    return theirs ?? counter.count(requestFor(asked, body, 'chat'), model.id, signal);
  }

  /** What the provider answers, or its failure in words for the client. */
  async function told<Answer>(answer: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
    try {
      return await answer;
    } catch (error) {
      const failure = upstreamFailure(error, signal);
      if (isForNow(failure)) onRefused(failure.retryAfter);
      else if (isUnreachable(error)) onRefused(undefined);
      throw failure;
    }
  }
}

/** Roughly: for an upstream that does not count. */
function inputTokens(request: JsonObject, format: FormatName): number {
  const needs = format === 'chat' ? chatNeeds(request as ChatRequest) : messagesNeeds(request as MessagesRequest);
  return needs.inputTokens;
}

/** Whether the provider refused because of its limits or its load, not because of the request. */
function isForNow(error: unknown): error is RouterError {
  return error instanceof RouterError && (error.code === 'rate_limit_exceeded' || error.code === 'overloaded');
}
