import type { IncomingHttpHeaders } from 'node:http';
import type { ModelInfo } from '#shared/broker/announcement.ts';
import type { GrantedJob, JobEnd, JobHandler } from '#shared/broker/job-contract.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { noUsage } from '#shared/core/usage.ts';
import { chatNeeds } from '#shared/protocol/chat/needs.ts';
import type { ChatRequest } from '#shared/protocol/chat/request.ts';
import { messagesNeeds } from '#shared/protocol/messages/needs.ts';
import type { MessagesRequest } from '#shared/protocol/messages/request.ts';
import { pairFor, type ModelFamily } from '#shared/protocol/pairs/pair-for.ts';
import { dialects } from '#shared/upstream/dialects.ts';
import { isUnreachable } from '#shared/upstream/is-unreachable.ts';
import { mint } from '#shared/upstream/mint.ts';
import { modelFamily } from '#shared/upstream/model-family.ts';
import { parseRequest } from '#shared/upstream/parse-request.ts';
import { relayAnswer, type AnswerBounds } from '#shared/upstream/relay-answer.ts';
import { upstreamFailure } from '#shared/upstream/upstream-failure.ts';
import type { UpstreamHttp } from '#shared/upstream/upstream-http.ts';
import { countTokens } from './count-tokens.ts';
import type { Provider } from './providers/provider.ts';
import { applyRules } from './requests/apply-rules.ts';

export interface HandleJobOptions {
  http: UpstreamHttp;
  provider: Provider;
  /** What the provider serves now. */
  models: () => readonly ModelInfo[];
  bounds: AnswerBounds;
  /** Hears of every answer's beginning. */
  onHead: (status: number, headers: IncomingHttpHeaders) => void;
  /** Called when the provider refuses work for now or cannot be reached, with the seconds to wait where it tells. */
  onRefused: (seconds: number | undefined) => void;
}

const paths: Readonly<Record<ModelFamily, string>> = { chat: '/chat/completions', messages: '/messages' };

/** A job on its way to the provider. */
interface Asked {
  job: GrantedJob;
  client: ModelFamily;
  model: ModelInfo;
  /** The client's request. */
  body: JsonObject;
  /** The client's headers, where they mean something to the provider: it must be of the same family. */
  headers: GrantedJob['headers'];
}

/** Makes the handler that serves jobs with one provider: translate, fit to its rules, send, translate back. */
export function createHandleJob({ http, provider, models, bounds, onHead, onRefused }: HandleJobOptions): JobHandler {
  const { family } = provider;

  return async function handleJob(job, reply, signal) {
    const model = models().find(({ id }) => id === job.model);
    if (!model) throw new RouterError('upstream_failed', `The provider no longer serves ${job.model}.`);
    const client = modelFamily(job.family);
    const headers = client === family ? job.headers : undefined;
    const asked: Asked = { job, client, model, body: parseRequest(job.body), headers };
    const write = (text: string): void => reply.write(text);
    try {
      if (job.operation === 'count_tokens') return await count(asked, write, signal);
      return await generate(asked, write, signal);
    } catch (error) {
      const failure = upstreamFailure(error, signal);
      if (isForNow(failure)) onRefused(failure.retryAfter);
      else if (isUnreachable(error)) onRefused(undefined);
      throw failure;
    }
  };

  function generate(asked: Asked, write: (text: string) => void, signal: AbortSignal): Promise<JobEnd> {
    const { job, client, headers } = asked;
    const relay = {
      http,
      dialect: dialects[family],
      pair: pairFor(client, family),
      minted: mint(client, job.model, () => inputTokens(asked)),
      stream: job.stream,
      bounds,
      write,
      onHead,
    };
    return relayAnswer(
      relay,
      { path: paths[family], body: JSON.stringify(requestFor(asked, family)), headers },
      signal,
    );
  }

  async function count(asked: Asked, write: (text: string) => void, signal: AbortSignal): Promise<JobEnd> {
    const { headers } = asked;
    const inChat = (): JsonObject => requestFor(asked, 'chat');
    const tokens = await countTokens({ http, provider, request: requestFor(asked, family), headers, inChat, signal });
    write(JSON.stringify({ input_tokens: tokens }));
    return { usage: noUsage, finishReason: 'stop' };
  }

  function requestFor({ client, body, model }: Asked, upstream: ModelFamily): JsonObject {
    const target = { model: model.id, maxOutput: model.maxOutput, takesFiles: provider.takesFiles };
    const request = applyRules(pairFor(client, upstream).request(body, target), provider.rules);
    return provider.adapt?.(request, model) ?? request;
  }
}

/** Roughly: for an upstream that does not count. */
function inputTokens({ client, body }: Asked): number {
  return (client === 'chat' ? chatNeeds(body as ChatRequest) : messagesNeeds(body as MessagesRequest)).inputTokens;
}

/** Whether the provider refused because of its limits or its load, not because of the request. */
function isForNow(error: unknown): error is RouterError {
  return error instanceof RouterError && (error.code === 'rate_limit_exceeded' || error.code === 'overloaded');
}
