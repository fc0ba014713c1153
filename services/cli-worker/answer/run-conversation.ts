import { setTimeout as sleep } from 'node:timers/promises';
import { RouterError } from '#shared/core/errors.ts';
import type { CliSession } from '../clis/cli.ts';
import type { Outcome, AnswerLimiter } from './dialogue.ts';
import type { CliProcess } from '../process/cli-process.ts';

export interface AnswerTimeouts {
  /** Maximum milliseconds until the first piece, including waits for a process. */
  firstMs: number;
  /** Maximum milliseconds between two pieces. */
  idleMs: number;
  /** Maximum milliseconds until the end of the answer. */
  totalMs: number;
}

export interface RunConversationOptions<Piece> {
  /** Called with each piece of the answer that the client gets. */
  onPiece: (piece: Piece) => void;
  /** Ends the answer at its client's limits; undefined if the upstream applies the limits. */
  limiter: AnswerLimiter<Piece> | undefined;
  timeouts: AnswerTimeouts;
  /** Milliseconds that remain of `timeouts.firstMs`. */
  remainingFirstMs: number;
  signal: AbortSignal;
}

/** Milliseconds between the request to stop and SIGKILL. */
const stopMs = 1_000;

/** Abort reason for an answer that has reached a limit of its client. */
const limitReached = new Error('the answer has reached its limit');

/**
 * Runs a conversation on a session, within the timeouts. Asks the CLI to stop when the signal aborts, when a timeout passes, or when the
 * answer reaches a limit of its client. Kills the CLI a second later if it still runs.
 * @returns how the answer ended, and whether the CLI ended it by itself (`isComplete`)
 * @throws RouterError of the CLI, or `upstream_timeout`
 * @throws the signal's reason
 */
export async function runConversation<Request, Piece>(
  session: CliSession<Request, Piece>,
  request: Request,
  { onPiece, limiter, timeouts, remainingFirstMs, signal }: RunConversationOptions<Piece>,
): Promise<{ outcome: Outcome; isComplete: boolean }> {
  const stop = new AbortController();
  const createTimeout = (message: string) => () => stop.abort(new RouterError('upstream_timeout', message));
  const totalTimer = setTimeout(createTimeout(`The CLI took more than ${timeouts.totalMs} ms.`), timeouts.totalMs);
  let idleTimer = setTimeout(createTimeout(`The CLI gave no answer within ${timeouts.firstMs} ms.`), remainingFirstMs);
  let hasBegun = false;
  const onAnswerPiece = (piece: Piece): void => {
    if (stop.signal.aborted) return;
    if (hasBegun) idleTimer.refresh();
    else {
      clearTimeout(idleTimer);
      idleTimer = setTimeout(createTimeout(`The CLI stopped answering for ${timeouts.idleMs} ms.`), timeouts.idleMs);
      hasBegun = true;
    }
    for (const allowedPiece of limiter?.push(piece) ?? [piece]) onPiece(allowedPiece);
    if (limiter?.reachedLimit !== undefined) stop.abort(limitReached);
  };
  const onAbort = (): void => stop.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const outcome = await waitUntilStopped(session, session.converse(request, onAnswerPiece, stop.signal), stop.signal);
    for (const piece of limiter?.end() ?? []) onPiece(piece);
    return { outcome, isComplete: true };
  } catch (error) {
    if (stop.signal.reason === limitReached)
      return { outcome: { finishReason: limiter?.reachedLimit ?? 'stop' }, isComplete: false };
    throw stop.signal.aborted ? stop.signal.reason : error;
  } finally {
    clearTimeout(totalTimer);
    clearTimeout(idleTimer);
    signal.removeEventListener('abort', onAbort);
  }
}

/** Waits for the conversation's end. Kills the process if it still runs `stopMs` after the request to stop. */
async function waitUntilStopped(
  session: { process: CliProcess },
  answer: Promise<Outcome>,
  stop: AbortSignal,
): Promise<Outcome> {
  const settled = new AbortController();
  const kill = async (): Promise<void> => {
    await sleep(stopMs, undefined, { signal: settled.signal }).catch(() => undefined);
    if (!settled.signal.aborted) session.process.kill();
  };
  const onStop = (): void => void kill();
  stop.addEventListener('abort', onStop, { once: true });
  if (stop.aborted) onStop();
  try {
    const outcome = await answer;
    // If the answer ends at the moment of a stop, the stop counts.
    stop.throwIfAborted();
    return outcome;
  } finally {
    settled.abort();
    stop.removeEventListener('abort', onStop);
  }
}
