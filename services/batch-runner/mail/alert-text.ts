import { z } from 'zod';
import type { MailedEventType } from '#shared/accounts/alert-mails/alert-mail.ts';
import { formatCount, formatDollars, formatInstant, oneLine, quote } from './mail-formats.ts';

export interface AlertText {
  subject: string;
  paragraphs: string[];
  /** Path of the console's page with details, without a leading slash. */
  page: string;
}

const text = z.string().transform(oneLine);

const budget = z.object({
  id: text,
  kind: z.enum(['key', 'team', 'user']),
  name: text,
  budget: z.string(),
  limit: z.number(),
  used: z.number(),
  percent: z.number().optional(),
  period: text,
  resets_at: z.number(),
});

const key = z.object({ id: text, kind: z.enum(['user', 'team', 'router']), name: text, expires_at: z.number() });

const worker = z.object({
  id: text,
  tier: text,
  host: text.optional(),
  reason: text.optional(),
  model: text.optional(),
});

const models = z.object({ models: z.array(text), count: z.number() });

const errors = z.object({ requests: z.number(), failed: z.number(), percent: z.number(), threshold: z.number() });

/**
 * Returns the mail text for an event.
 * @throws ZodError for data in an unexpected form
 */
export function composeAlertText(type: MailedEventType, data: unknown): AlertText {
  switch (type) {
    case 'rtr.budget.threshold':
    case 'rtr.budget.exhausted':
      return budgetText(budget.parse(data));
    case 'rtr.key.expiring':
    case 'rtr.key.expired':
      return keyText(key.parse(data), type === 'rtr.key.expired');
    case 'rtr.worker.lost':
    case 'rtr.worker.ejected':
    case 'rtr.worker.failing':
    case 'rtr.worker.back':
      return workerText(type, worker.parse(data));
    case 'rtr.model.unserved':
    case 'rtr.model.served':
      return modelText(models.parse(data), type === 'rtr.model.served');
    case 'rtr.errors.high':
    case 'rtr.errors.normal':
      return errorText(errors.parse(data), type === 'rtr.errors.normal');
  }
}

function budgetText(of: z.output<typeof budget>): AlertText {
  const { limit, used, percent, period, resets_at: resetsAt } = of;
  const amount = of.budget.startsWith('cost')
    ? formatDollars
    : (count: number): string => `${formatCount(count)} tokens`;
  const who = budgetHolder(of);
  const has = who === undefined ? 'You have' : `The ${who} has`;
  const share = `${has} used ${amount(used)} of the budget of ${amount(limit)} for ${period}`;
  const reset = `The budget is reset on ${onDay(resetsAt)}.`;
  const whose = who ?? 'your account';
  return percent === undefined
    ? {
        subject: `A budget is used up: ${whose}`,
        paragraphs: [`${share}.`, `What is left is too little for most requests: they are refused. ${reset}`],
        page: 'usage',
      }
    : {
        subject: `${percent} % of a budget is used: ${whose}`,
        paragraphs: [`${share}, which is ${percent} % or more.`, reset],
        page: 'usage',
      };
}

/** Returns the holder of a budget; undefined for the person who receives the mail. */
function budgetHolder({ id, kind, name }: z.output<typeof budget>): string | undefined {
  if (kind === 'user') return undefined;
  const what = { key: id.startsWith('service:') ? 'service account' : 'key', team: 'team' }[kind];
  return `${what} ${quote(name)}`;
}

function keyText({ id, kind, name, expires_at: expiresAt }: z.output<typeof key>, isOver: boolean): AlertText {
  const whose = { user: 'Your key', team: 'The key of your team', router: 'The router key' }[kind];
  const which = `${whose} ${quote(name)} (${id})`;
  return isOver
    ? {
        subject: `The key ${quote(name)} has expired`,
        paragraphs: [`${which} expired on ${onDay(expiresAt)}. Requests with it are refused.`],
        page: 'keys',
      }
    : {
        subject: `The key ${quote(name)} expires on ${onDay(expiresAt)}`,
        paragraphs: [
          `${which} expires on ${onDay(expiresAt)}. From then on, requests with it are refused.`,
          'Replace it before, or let it expire later.',
        ],
        page: 'keys',
      };
}

function workerText(
  type: Extract<MailedEventType, `rtr.worker.${string}`>,
  { id, tier, host, reason, model }: z.output<typeof worker>,
): AlertText {
  const which = `The worker ${id} of the tier ${tier}${host === undefined ? '' : ` on ${host}`}`;
  const because = reason === undefined ? '' : ` (${reason})`;
  const sentences = {
    'rtr.worker.lost': ['is lost', 'is lost: nothing has come from it for seconds, and it was not stopped.'],
    'rtr.worker.ejected': [
      'is ejected',
      `gets no jobs${model === undefined ? '' : ` with ${model}`}, because they fail or are slow where those of its peers are not${because}.`,
    ],
    'rtr.worker.failing': ['fails', `says that what it serves fails${because}.`],
    'rtr.worker.back': ['is back', 'serves again.'],
  } as const;
  const [short, long] = sentences[type];
  return { subject: `The worker ${id} ${short}`, paragraphs: [`${which} ${long}`], page: 'workers' };
}

/** Largest number of model names in a subject. */
const maxInSubject = 3;

function modelText({ models: names, count }: z.output<typeof models>, isBack: boolean): AlertText {
  const listed =
    names.slice(0, maxInSubject).join(', ') + (count > maxInSubject ? ` and ${count - maxInSubject} more` : '');
  const are = isBack ? 'served again' : 'not served';
  const what = isBack ? 'These models have a worker again' : 'No worker serves these models any more';
  const more = count > names.length ? ` and ${count - names.length} more` : '';
  return {
    subject: `${count === 1 ? 'A model is' : `${count} models are`} ${are}: ${listed}`,
    paragraphs: [`${what}: ${names.join(', ')}${more}.`],
    page: 'models',
  };
}

function errorText({ requests, failed, percent, threshold }: z.output<typeof errors>, isOver: boolean): AlertText {
  const share = `${formatCount(failed)} of the ${formatCount(requests)} requests of the last five minutes (${percent} %)`;
  const by = 'failed with an error of the router or of an upstream';
  return isOver
    ? { subject: 'The error rate is normal again', paragraphs: [`${share} ${by}.`], page: '' }
    : {
        subject: `${percent} % of the requests fail`,
        paragraphs: [`${share} ${by}. An alert begins above ${threshold} %.`],
        page: '',
      };
}

/** @param at in seconds since 1970 */
function onDay(at: number): string {
  return formatInstant(1_000 * at);
}
