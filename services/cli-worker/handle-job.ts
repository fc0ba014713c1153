import { randomUUID } from 'node:crypto';
import type { GrantedJob, JobEnd, JobHandler, Reply } from '#shared/broker/contract/job-contract.ts';
import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { Logger } from '#shared/core/log.ts';
import { GenerationSpan } from '#shared/upstream/generation-span.ts';
import type { TraceSpan } from '#shared/core/tracing/tracing.ts';
import { noUsage } from '#shared/core/usage.ts';
import { chatNeeds } from '#shared/formats/chat/needs.ts';
import type { ChatRequest } from '#shared/formats/chat/request.ts';
import { messagesNeeds } from '#shared/formats/messages/needs.ts';
import type { MessagesRequest } from '#shared/formats/messages/request.ts';
import { pairFor, type FormatName } from '#shared/translate/translations.ts';
import type { Minted } from '#shared/translate/translation.ts';
import type { AnswerPart } from './answer/answer-part.ts';
import { chatDone, endChunk, partChunk, wholeAnswer } from './answer/chat-chunks.ts';
import { runConversation, type Patience } from './answer/run-conversation.ts';
import { readChatConversation } from './conversation/read-chat-conversation.ts';
import { readMessagesConversation } from './conversation/read-messages-conversation.ts';
import type { Conversation } from './conversation/conversation.ts';
import type { Lease } from './pool/session-pool.ts';

export interface HandleJobOptions {
  /** Holds a session for one conversation. */
  take: (signal: AbortSignal) => Promise<Lease>;
  /** The models that the worker announces. */
  models: readonly string[];
  takesImages: boolean;
  /** Who generates behind it, in traces. */
  traceName: string;
  patience: Patience;
  /** Called when the upstream limits the rate of requests, with the seconds that this lasts where it tells them. */
  onLimited: (seconds: number | undefined) => void;
  log: Logger;
}

/** A request's answer as it goes to the client. */
interface Answer {
  onPart: (part: AnswerPart) => void;
  end: (outcome: { finishReason: string }) => JobEnd;
}

/** Processes that are tried for one job when they die without a word. */
const maxTries = 3;

/** What came of one session's try at a conversation. */
type Attempt = { end: JobEnd } | { error: unknown; diedSilently: boolean };

/**
 * Makes the handler that serves jobs with a CLI: read the conversation, hold a session, translate what it says. The CLI's
 * answer is written in the chat format, from which it is translated into the client's.
 */
export function createHandleJob(options: HandleJobOptions): JobHandler {
  const { take, models, takesImages, traceName, patience, onLimited, log } = options;
  return async function handleJob(job, reply, signal) {
    const format = formatOf(job);
    if (!models.includes(job.model)) {
      throw new RouterError('upstream_failed', `The worker no longer serves ${job.model}.`);
    }
    const body = bodyOf(job);
    const promptTokens = (): number => Math.max(1, inputTokensOf(format, body));
    if (job.operation === 'count_tokens') {
      reply.write(JSON.stringify({ input_tokens: promptTokens() }));
      return { usage: noUsage, finishReason: 'stop' };
    }
    const conversation = readConversation(format, body, job.model, takesImages);
    const minted = { ...mint(format, job.model), promptTokens };
    const answer = job.stream ? streamed(format, minted, reply) : whole(format, minted, reply);
    return job.trace ? traced(job, job.trace, conversation, answer, signal) : converse(conversation, answer, signal);
  };

  async function traced(
    { model, stream }: GrantedJob,
    parent: TraceSpan,
    conversation: Conversation,
    answer: Answer,
    signal: AbortSignal,
  ): Promise<JobEnd> {
    const span = new GenerationSpan({ parent, provider: traceName, model, stream });
    const onPart = (part: AnswerPart): void => {
      span.heard();
      answer.onPart(part);
    };
    try {
      const end = await converse(conversation, { ...answer, onPart }, signal);
      span.ended(end);
      return end;
    } catch (error) {
      span.failed(error, signal);
      throw error;
    }
  }

  /**
   * A process that stood ready may have died in the very moment that it was taken, and others with it: while nothing was
   * heard of one, the next is tried.
   */
  async function converse(conversation: Conversation, answer: Answer, signal: AbortSignal): Promise<JobEnd> {
    for (let tries = 1; ; tries += 1) {
      const came = await attempt(conversation, answer, signal);
      if ('end' in came) return came.end;
      if (!came.diedSilently || tries === maxTries) throw came.error;
    }
  }

  async function attempt(conversation: Conversation, answer: Answer, signal: AbortSignal): Promise<Attempt> {
    const lease = await takeInTime(signal);
    let endedWell = false;
    let heard = false;
    try {
      const onPart = (part: AnswerPart): void => {
        heard = true;
        lease.begun();
        answer.onPart(part);
      };
      const { outcome, complete } = await runConversation(lease.session, conversation, { onPart, patience, signal });
      endedWell = complete;
      return { end: answer.end(outcome) };
    } catch (error) {
      if (!signal.aborted) tellOperator(error);
      const isOfProcess = error instanceof RouterError && error.code === 'upstream_failed';
      return { error, diedSilently: isOfProcess && !heard && !signal.aborted && lease.session.process.hasEnded };
    } finally {
      lease.release(endedWell);
    }
  }

  function takeInTime(signal: AbortSignal): Promise<Lease> {
    return take(AbortSignal.any([signal, AbortSignal.timeout(patience.firstMs)])).catch((error: unknown) => {
      if (signal.aborted || error instanceof RouterError) throw error;
      throw new RouterError('upstream_timeout', 'No process of the CLI became ready in time.', { cause: error });
    });
  }

  function tellOperator(error: unknown): void {
    if (!(error instanceof RouterError)) return;
    if (error.code === 'rate_limit_exceeded') onLimited(error.retryAfter);
    if (error.code === 'upstream_failed') {
      log.error({ err: error }, 'the CLI could not serve a request');
    }
  }
}

/** An answer that is written piece by piece. */
function streamed(format: FormatName, minted: Minted, reply: Reply): Answer {
  const translation = pairFor(format, 'chat').stream(minted);
  const write = (text: string): void => {
    if (text !== '') reply.write(text);
  };
  return {
    onPart: (part) => write(translation.event(partChunk(part))),
    end: (outcome) => {
      write(translation.event(endChunk(outcome)));
      write(translation.event(chatDone));
      const { text, ending } = translation.end();
      write(text);
      return ending;
    },
  };
}

/** An answer that is written when it is complete. */
function whole(format: FormatName, minted: Minted, reply: Reply): Answer {
  const parts: AnswerPart[] = [];
  return {
    onPart: (part) => void parts.push(part),
    end: (outcome) => {
      const { body, ending } = pairFor(format, 'chat').reply(wholeAnswer(parts, outcome), minted);
      reply.write(JSON.stringify(body));
      return ending;
    },
  };
}

function readConversation(format: FormatName, body: JsonObject, model: string, takesImages: boolean): Conversation {
  return format === 'chat'
    ? readChatConversation(body as ChatRequest, model, takesImages)
    : readMessagesConversation(body as MessagesRequest, model, takesImages);
}

function inputTokensOf(format: FormatName, body: JsonObject): number {
  const needs = format === 'chat' ? chatNeeds(body as ChatRequest) : messagesNeeds(body as MessagesRequest);
  return needs.inputTokens;
}

/** Tools are no matter of a worker that runs models. */
function formatOf({ format }: GrantedJob): FormatName {
  if (format === 'chat' || format === 'messages') return format;
  throw new RouterError('internal', `The worker does not answer in the format ${format}.`);
}

function bodyOf({ body }: GrantedJob): JsonObject {
  const parsed: unknown = JSON.parse(body.toString());
  if (!isJsonObject(parsed)) throw new RouterError('internal', 'The job has no JSON object for a body.');
  return parsed;
}

function mint(format: FormatName, model: string): Minted {
  const random = randomUUID().replaceAll('-', '');
  const id = format === 'messages' ? `msg_${random}` : `chatcmpl-${random}`;
  return { id, model, created: Math.floor(Date.now() / 1000) };
}
