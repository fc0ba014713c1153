import { expectedText } from '../load/request-plan.ts';
import type { Sent } from '../load/send-request.ts';
import { blamedStatus } from './judge-poison.ts';
import type { Disturbances } from './disturbances.ts';
import type { Violation } from './violation.ts';

/** Statuses with which the router may refuse a request while it is disturbed; 529 is the messages format's 503. */
const honest = new Set([blamedStatus, 429, 500, 502, 503, 504, 529]);

/** Milliseconds after the start of an ingress in which its clients' balancer may still send requests there. */
const startMs = 3_000;

/** The worker that has the tool, and the milliseconds for which an ingress that was started in between may not list it. */
const toolsWorker = 4;
const unseenMs = 40_000;

/** Checks every answer by itself: it ends in time, is exact or says that it is not, and is not refused without a reason. */
export function judgeAnswers(sent: readonly Sent[], disturbances: Disturbances, maxMs: number): Violation[] {
  return sent.flatMap((one) => judge(one, disturbances, maxMs).map((found) => ({ ...found, id: one.plan.id })));
}

function judge(sent: Sent, disturbances: Disturbances, maxMs: number): Omit<Violation, 'id'>[] {
  const { plan, answer, sentAt, endedAt, left } = sent;
  const { status, text, finished, error, broken } = answer;
  const found: Omit<Violation, 'id'>[] = [];
  const add = (rule: Violation['rule'], detail: string): void => void found.push({ rule, detail });
  if (endedAt === undefined) add('never ended', `${status ?? 'no status'}, ${text.length} characters`);
  else if (endedAt - sentAt > maxMs) add('ended late', `after ${Math.round(endedAt - sentAt)} ms`);

  const expected = expectedText(plan);
  if (status === 200 && error === undefined) {
    if (finished && text !== expected) add('wrong text', differ(text, expected));
    if (!finished && !expected.startsWith(text)) add('wrong text', differ(text, expected));
    if (!finished && !left && broken === undefined && endedAt !== undefined) {
      add('silent end', `after ${text.length} of ${expected.length} characters`);
    }
  }
  // The text before an error must be exact, too.
  if (status === 200 && plan.stream && error !== undefined && !expected.startsWith(text)) {
    add('wrong text', differ(text, expected));
  }
  if (answer.trailing) add('bytes after the end', error ?? 'text');
  const end = endedAt ?? Infinity;
  /** Whether its ingress was killed while it ran, or so long before. */
  const isKilled = (beforeMs: number): boolean =>
    disturbances
      .during(sentAt, end, beforeMs)
      .some(({ fault }) => fault.name === 'ingress-kill' && fault.index === plan.ingress);
  if (broken !== undefined && !isKilled(startMs)) add('broken connection', `${broken} after ${text.length} characters`);
  if (status !== undefined && status !== 200 && !honest.has(status)) {
    const isTold = status === 400 && disturbances.any(['engine-400'], sentAt, end, 1_000);
    // An ingress does not have the tools of a worker that it has not seen since its start.
    const isUnseen =
      status === 404 &&
      plan.format === 'tools' &&
      isKilled(unseenMs) &&
      disturbances
        .during(sentAt, end, startMs)
        .some(({ fault }) => fault.name.startsWith('worker-') && fault.index === toolsWorker);
    if (!isTold && !isUnseen) add('refused', `${status} ${error}`);
  }
  return found;
}

/** Returns where a text leaves the expected one. */
function differ(text: string, expected: string): string {
  let at = 0;
  while (at < text.length && text[at] === expected[at]) at += 1;
  const near = (of: string): string => JSON.stringify(of.slice(Math.max(0, at - 12), at + 12));
  return `at ${at}: ${near(text)} instead of ${near(expected)}`;
}
