import { z } from 'zod';
import type { MailedEventType } from '#shared/accounts/webhooks/alert-mails/alert-mail.ts';
import { formatCount, formatDollars, formatInstant, toOneLine, quote } from './mail-formats.ts';

export interface AlertText {
  subject: string;
  paragraphs: string[];
  /** Path of the console's page with details, without a leading slash. */
  page: string;
}

const textSchema = z.string().transform(toOneLine);

const budgetSchema = z.object({
  id: textSchema,
  kind: z.enum(['key', 'team', 'user']),
  name: textSchema,
  budget: z.string(),
  limit: z.number(),
  used: z.number(),
  percent: z.number().optional(),
  period: textSchema,
  resets_at: z.number(),
});

const keySchema = z.object({
  id: textSchema,
  kind: z.enum(['user', 'team', 'router']),
  name: textSchema,
  expires_at: z.number(),
});

const workerSchema = z.object({
  id: textSchema,
  tier: textSchema,
  host: textSchema.optional(),
  reason: textSchema.optional(),
  model: textSchema.optional(),
});

const modelsSchema = z.object({ models: z.array(textSchema), count: z.number() });

const errorsSchema = z.object({ requests: z.number(), failed: z.number(), percent: z.number(), threshold: z.number() });

/**
 * Returns the mail text for an event.
 * @throws ZodError for data in an unexpected form
 */
export function composeAlertText(type: MailedEventType, data: unknown): AlertText {
  switch (type) {
    case 'rtr.budget.threshold':
    case 'rtr.budget.exhausted':
      return composeBudgetText(budgetSchema.parse(data));
    case 'rtr.key.expiring':
    case 'rtr.key.expired':
      return composeKeyText(keySchema.parse(data), type === 'rtr.key.expired');
    case 'rtr.worker.lost':
    case 'rtr.worker.ejected':
    case 'rtr.worker.failing':
    case 'rtr.worker.back':
      return composeWorkerText(type, workerSchema.parse(data));
    case 'rtr.model.unserved':
    case 'rtr.model.served':
      return composeModelText(modelsSchema.parse(data), type === 'rtr.model.served');
    case 'rtr.errors.high':
    case 'rtr.errors.normal':
      return composeErrorText(errorsSchema.parse(data), type === 'rtr.errors.normal');
  }
}

function composeBudgetText(budgetData: z.output<typeof budgetSchema>): AlertText {
  const { limit, used, percent, period, resets_at: resetsAt } = budgetData;
  const amount = budgetData.budget.startsWith('cost')
    ? formatDollars
    : (count: number): string => `${formatCount(count)} tokens`;
  const holder = findBudgetHolder(budgetData);
  const beginning = holder === undefined ? 'You have' : `The ${holder} has`;
  const share = `${beginning} used ${amount(used)} of the budget of ${amount(limit)} for ${period}`;
  const reset = `The budget is reset on ${formatSeconds(resetsAt)}.`;
  const holderName = holder ?? 'your account';
  return percent === undefined
    ? {
        subject: `A budget is used up: ${holderName}`,
        paragraphs: [`${share}.`, `What is left is too little for most requests: they are refused. ${reset}`],
        page: 'usage',
      }
    : {
        subject: `${percent} % of a budget is used: ${holderName}`,
        paragraphs: [`${share}, which is ${percent} % or more.`, reset],
        page: 'usage',
      };
}

/** Returns the holder of a budget; undefined for the person who receives the mail. */
function findBudgetHolder({ id, kind, name }: z.output<typeof budgetSchema>): string | undefined {
  if (kind === 'user') return undefined;
  const kindName = { key: id.startsWith('service:') ? 'service account' : 'key', team: 'team' }[kind];
  return `${kindName} ${quote(name)}`;
}

function composeKeyText(
  { id, kind, name, expires_at: expiresAt }: z.output<typeof keySchema>,
  isOver: boolean,
): AlertText {
  const keyKind = { user: 'Your key', team: 'The key of your team', router: 'The router key' }[kind];
  const keyName = `${keyKind} ${quote(name)} (${id})`;
  return isOver
    ? {
        subject: `The key ${quote(name)} has expired`,
        paragraphs: [`${keyName} expired on ${formatSeconds(expiresAt)}. Requests with it are refused.`],
        page: 'keys',
      }
    : {
        subject: `The key ${quote(name)} expires on ${formatSeconds(expiresAt)}`,
        paragraphs: [
          `${keyName} expires on ${formatSeconds(expiresAt)}. From then on, requests with it are refused.`,
          'Replace it before, or let it expire later.',
        ],
        page: 'keys',
      };
}

function composeWorkerText(
  type: Extract<MailedEventType, `rtr.worker.${string}`>,
  { id, tier, host, reason, model }: z.output<typeof workerSchema>,
): AlertText {
  const workerName = `The worker ${id} of the tier ${tier}${host === undefined ? '' : ` on ${host}`}`;
  const reasonText = reason === undefined ? '' : ` (${reason})`;
  const sentences = {
    'rtr.worker.lost': ['is lost', 'is lost: nothing has come from it for seconds, and it was not stopped.'],
    'rtr.worker.ejected': [
      'is ejected',
      `gets no jobs${model === undefined ? '' : ` with ${model}`}, because they fail or are slow where those of its peers are not${reasonText}.`,
    ],
    'rtr.worker.failing': ['fails', `reports that its upstream fails${reasonText}.`],
    'rtr.worker.back': ['is back', 'serves again.'],
  } as const;
  const [subjectEnd, sentence] = sentences[type];
  return { subject: `The worker ${id} ${subjectEnd}`, paragraphs: [`${workerName} ${sentence}`], page: 'workers' };
}

/** Largest number of model names in a subject. */
const maxInSubject = 3;

function composeModelText({ models: names, count }: z.output<typeof modelsSchema>, isBack: boolean): AlertText {
  const subjectNames =
    names.slice(0, maxInSubject).join(', ') + (count > maxInSubject ? ` and ${count - maxInSubject} more` : '');
  const state = isBack ? 'served again' : 'not served';
  const statement = isBack ? 'These models have a worker again' : 'No worker serves these models any more';
  const remainder = count > names.length ? ` and ${count - names.length} more` : '';
  return {
    subject: `${count === 1 ? 'A model is' : `${count} models are`} ${state}: ${subjectNames}`,
    paragraphs: [`${statement}: ${names.join(', ')}${remainder}.`],
    page: 'models',
  };
}

function composeErrorText(
  { requests, failed, percent, threshold }: z.output<typeof errorsSchema>,
  isOver: boolean,
): AlertText {
  const share = `${formatCount(failed)} of the ${formatCount(requests)} requests of the last five minutes (${percent} %)`;
  const failure = 'failed with an error of the router or of an upstream';
  return isOver
    ? { subject: 'The error rate is normal again', paragraphs: [`${share} ${failure}.`], page: '' }
    : {
        subject: `${percent} % of the requests fail`,
        paragraphs: [`${share} ${failure}. An alert begins above ${threshold} %.`],
        page: '',
      };
}

/** @param at in seconds since 1970 */
function formatSeconds(at: number): string {
  return formatInstant(1_000 * at);
}
