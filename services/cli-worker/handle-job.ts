import type { GrantedJob, JobEnd, JobHandler, Reply } from '#shared/broker/contract/job-contract.ts';
import { RouterError, type ErrorCode } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import { GenerationSpan } from '#shared/upstream/generation-span.ts';
import type { TraceSpan } from '#shared/core/tracing/tracing.ts';
import { noUsage } from '#shared/core/usage.ts';
import { holdOpening } from '#shared/translate/hold-opening.ts';
import {
  findTranslation,
  type AnswerContext,
  type ModelTraits,
  type Translation,
} from '#shared/translate/translation.ts';
import { createAnswerContext, createUnseal } from '#shared/upstream/create-answer-context.ts';
import { readRequest } from '#shared/upstream/read-request.ts';
import type { CliSession } from './clis/cli.ts';
import type { Outcome, Dialogue } from './answer/dialogue.ts';
import { runConversation, type AnswerTimeouts } from './answer/run-conversation.ts';
import type { LoginState } from './login-state.ts';
import type { Lease } from './process-set/process-set.ts';

export interface HandleJobOptions<Request, Piece> {
  dialogue: Dialogue<Request, Piece>;
  leaseSession: (signal: AbortSignal) => Promise<Lease<CliSession<Request, Piece>>>;
  models: readonly string[];
  /** Model traits of the installed version of the CLI. */
  modelTraits: Partial<ModelTraits>;
  traceName: string;
  timeouts: AnswerTimeouts;
  /** Records whether the upstream accepts the login. */
  login: Pick<LoginState, 'recordAccepted' | 'recordRefused'>;
  log: Logger;
}

interface AnswerWriter<Piece> {
  onPiece: (piece: Piece) => void;
  end: (outcome: Outcome) => JobEnd;
}

/** Maximum number of processes that are tried for one job. The next process is tried if one exits before it answers. */
const maxTries = 3;

/** Errors with a cause in the request or its rate. The process that reports such an error stays usable. */
const requestErrorCodes: ReadonlySet<ErrorCode> = new Set([
  'invalid_request',
  'context_length_exceeded',
  'rate_limit_exceeded',
  'overloaded',
]);

type ProcessTry = { end: JobEnd } | { error: unknown; diedSilently: boolean };

/** Creates the handler that serves jobs with a CLI. It translates the request, leases a session and translates the answer. */
export function createHandleJob<Request, Piece>(options: HandleJobOptions<Request, Piece>): JobHandler {
  const { dialogue, leaseSession, models, modelTraits, traceName, timeouts, login, log } = options;
  return async function handleJob(job, reply, signal) {
    if (!models.includes(job.model)) {
      throw new RouterError('upstream_failed', `The worker no longer serves ${job.model}.`);
    }
    const translation = findTranslation(dialogue.translations, job.format, dialogue.upstream);
    const { request: clientRequest } = readRequest(job);
    const inputTokens = translation.client.estimateInput(clientRequest);
    if (job.operation === 'count_tokens') {
      reply.write(JSON.stringify(translation.client.countAnswer?.(Math.max(1, inputTokens)) ?? {}));
      return { usage: noUsage, finishReason: 'stop' };
    }
    const request = translation.translateRequest(clientRequest, {
      model: job.model,
      ...modelTraits,
      unseal: createUnseal(job),
    });
    const input = { tokens: inputTokens };
    const answerContext = createAnswerContext(translation, job, clientRequest, input);
    const answer = (job.stream ? createStreamWriter : createWholeWriter)(dialogue, translation, answerContext, reply);
    return job.trace ? converseTraced(job, job.trace, request, answer, signal) : converse(request, answer, signal);
  };

  async function converseTraced(
    { model, stream }: GrantedJob,
    parent: TraceSpan,
    request: Request,
    answer: AnswerWriter<Piece>,
    signal: AbortSignal,
  ): Promise<JobEnd> {
    const span = new GenerationSpan({ parent, provider: traceName, operation: 'generate', model, stream });
    const onPiece = (piece: Piece): void => {
      span.recordPiece();
      answer.onPiece(piece);
    };
    try {
      const end = await converse(request, { ...answer, onPiece }, signal);
      span.end(end);
      return end;
    } catch (error) {
      span.fail(error, signal);
      throw error;
    }
  }

  /**
   * Serves a request with up to `maxTries` processes. A ready process may exit just when it is leased, and so may the next. If a process
   * exits before it has answered anything, the next process is tried. The timeout for the first piece holds for all of them together.
   */
  async function converse(request: Request, answer: AnswerWriter<Piece>, signal: AbortSignal): Promise<JobEnd> {
    const firstDeadline = performance.now() + timeouts.firstMs;
    for (let tries = 1; ; tries += 1) {
      const result = await tryProcess(request, answer, firstDeadline, signal);
      if ('end' in result) return result.end;
      if (!result.diedSilently || tries === maxTries) throw result.error;
    }
  }

  /** @param firstDeadline when the first piece is due, in ms of `performance.now()` */
  async function tryProcess(
    request: Request,
    answer: AnswerWriter<Piece>,
    firstDeadline: number,
    signal: AbortSignal,
  ): Promise<ProcessTry> {
    const computeRemainingMs = (): number => Math.max(0, Math.ceil(firstDeadline - performance.now()));
    const lease = await leaseInTime(computeRemainingMs(), signal);
    let endedWell = false;
    let hasAnswered = false;
    try {
      const onPiece = (piece: Piece): void => {
        hasAnswered = true;
        lease.reportBegun();
        answer.onPiece(piece);
      };
      const { outcome, isComplete } = await runConversation(lease.session, request, {
        onPiece,
        limiter: dialogue.createLimiter?.(request),
        timeouts,
        remainingFirstMs: computeRemainingMs(),
        signal,
      });
      endedWell = isComplete;
      login.recordAccepted();
      return { end: answer.end(outcome) };
    } catch (error) {
      if (!signal.aborted) reportToOperator(error);
      endedWell =
        !signal.aborted && error instanceof RouterError && (error.byUpstream || requestErrorCodes.has(error.code));
      if (error instanceof RouterError && error.refusesCredentials) login.recordRefused();
      const isProcessFailure = error instanceof RouterError && error.code === 'upstream_failed';
      return {
        error,
        diedSilently: isProcessFailure && !hasAnswered && !signal.aborted && lease.session.process.hasEnded,
      };
    } finally {
      lease.release(endedWell);
    }
  }

  function leaseInTime(timeoutMs: number, signal: AbortSignal): Promise<Lease<CliSession<Request, Piece>>> {
    return leaseSession(AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])).catch((error: unknown) => {
      if (signal.aborted || error instanceof RouterError) throw error;
      throw new RouterError('upstream_timeout', 'No process of the CLI became ready in time.', { cause: error });
    });
  }

  function reportToOperator(error: unknown): void {
    if (error instanceof RouterError && error.code === 'upstream_failed') {
      log.error({ err: error }, 'the CLI could not serve a request');
    }
  }
}

/** Writes an answer piece by piece. */
function createStreamWriter<Request, Piece>(
  dialogue: Dialogue<Request, Piece>,
  translation: Translation<Request>,
  answerContext: AnswerContext,
  reply: Reply,
): AnswerWriter<Piece> {
  const stream = holdOpening(translation.createStream(answerContext));
  const write = (text: string): void => {
    if (text !== '') reply.write(text);
  };
  return {
    onPiece: (piece) => write(stream.translateEvent(dialogue.encodePiece(piece))),
    end: (outcome) => {
      for (const data of dialogue.encodeEnd(outcome)) write(stream.translateEvent(data));
      const { text, ending } = stream.translateEnd();
      write(text);
      return ending;
    },
  };
}

/** Writes an answer when it is complete. */
function createWholeWriter<Request, Piece>(
  dialogue: Dialogue<Request, Piece>,
  translation: Translation<Request>,
  answerContext: AnswerContext,
  reply: Reply,
): AnswerWriter<Piece> {
  const pieces: Piece[] = [];
  return {
    onPiece: (piece) => void pieces.push(piece),
    end: (outcome) => {
      const { body, ending } = translation.translateReply(dialogue.encodeWhole(pieces, outcome), answerContext);
      reply.write(JSON.stringify(body));
      return ending;
    },
  };
}
