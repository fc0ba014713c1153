import { setTimeout as sleep } from 'node:timers/promises';
import { RouterError } from '#shared/core/errors.ts';
import type { CliSession } from '../clis/cli.ts';
import type { Conversation } from '#shared/translate/conversation/conversation.ts';
import type { AnswerPart, Outcome } from './answer-part.ts';
import { LimitedAnswer } from './limit-answer.ts';

/** How long to wait, in milliseconds: for the first piece of the answer, between two pieces, for all of it. */
export interface Patience {
  firstMs: number;
  idleMs: number;
  totalMs: number;
}

/** Milliseconds for a CLI to stop when it was asked to; then it is killed. */
const obeyMs = 1_000;

/** Abort reason when the client has what it wanted. */
const enough = new Error('the answer is long enough');

/**
 * Holds a conversation with a session and watches its time. When the signal aborts, time is up, or a limit of the client's is
 * met, the CLI is asked to stop, and killed when it does not obey.
 * @param onPart takes the answer as the client gets it
 * @returns how it ended, and whether the CLI itself brought it to its end
 * @throws RouterError of the CLI or for the time, and the signal's reason
 */
export async function runConversation(
  session: CliSession,
  conversation: Conversation,
  { onPart, patience, signal }: { onPart: (part: AnswerPart) => void; patience: Patience; signal: AbortSignal },
): Promise<{ outcome: Outcome; complete: boolean }> {
  const limited = new LimitedAnswer(conversation);
  const stop = new AbortController();
  const late = (what: string) => () => stop.abort(new RouterError('upstream_timeout', what));
  const total = setTimeout(late(`The CLI took more than ${patience.totalMs} ms.`), patience.totalMs);
  let idle = setTimeout(late(`The CLI gave no answer within ${patience.firstMs} ms.`), patience.firstMs);
  let begun = false;
  const heard = (part: AnswerPart): void => {
    if (stop.signal.aborted) return;
    if (begun) idle.refresh();
    else {
      clearTimeout(idle);
      idle = setTimeout(late(`The CLI stopped answering for ${patience.idleMs} ms.`), patience.idleMs);
      begun = true;
    }
    for (const each of limited.push(part)) onPart(each);
    if (limited.ended !== undefined) stop.abort(enough);
  };
  const onAbort = (): void => stop.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const outcome = await untilStopped(session, session.converse(conversation, heard, stop.signal), stop.signal);
    for (const part of limited.end()) onPart(part);
    return { outcome, complete: true };
  } catch (error) {
    if (stop.signal.reason === enough) return { outcome: { finishReason: limited.ended ?? 'stop' }, complete: false };
    throw stop.signal.aborted ? stop.signal.reason : error;
  } finally {
    clearTimeout(total);
    clearTimeout(idle);
    signal.removeEventListener('abort', onAbort);
  }
}

/** What the conversation comes to; once it was stopped it has a moment to obey before its process is killed. */
async function untilStopped(session: CliSession, running: Promise<Outcome>, stop: AbortSignal): Promise<Outcome> {
  const settled = new AbortController();
  const force = async (): Promise<void> => {
    await sleep(obeyMs, undefined, { signal: settled.signal }).catch(() => undefined);
    if (!settled.signal.aborted) session.process.kill();
  };
  const onStop = (): void => void force();
  stop.addEventListener('abort', onStop, { once: true });
  if (stop.aborted) onStop();
  try {
    const outcome = await running;
    // It ended just as it was stopped: nobody waits for the rest.
    stop.throwIfAborted();
    return outcome;
  } finally {
    settled.abort();
    stop.removeEventListener('abort', onStop);
  }
}
