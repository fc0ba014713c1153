import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, readType, type JsonObject } from '#shared/core/json.ts';
import { parseUpstreamJson } from '../upstreams/parse-upstream-json.ts';
import type { AnswerContext, ModelTraits } from '../translation.ts';
import { writeSummaryText } from '../context/expand-summary.ts';

/** The message that asks the model for a summary, in place of a `compaction_trigger`. */
const summaryInstruction = `Write a summary of this conversation for a model that continues it and sees nothing else of it.
Say what the user wants, in their own words where they matter, what was decided and why, what was done with which files,
commands and results, what failed, and what remains to be done next. Keep names, paths, numbers and identifiers exact.
Call no tool, and answer with the summary alone.`;

/** Whether a request asks for a summary of its conversation. The answer to such a request is one `compaction` item. */
export function requestsCompaction({ input }: JsonObject): boolean {
  return Array.isArray(input) && input.some((item) => readType(item) === 'compaction_trigger');
}

/**
 * Creates the item that replaces a conversation in later requests. It contains the sealed summary of the conversation.
 * @throws RouterError `upstream_failed` if the summary is empty, `store_unavailable` if there is no key to seal the summary
 */
export function createCompactionItem({ id, seal }: Pick<AnswerContext, 'id' | 'seal'>, summary: string): JsonObject {
  if (summary.trim() === '')
    throw new RouterError('upstream_failed', 'The model wrote no summary of the conversation.');
  if (!seal) throw createUnknownSecretError('seals');
  const encrypted = seal(JSON.stringify({ summary }));
  return { id: id.replace(/^resp_|^/, 'cmp_'), type: 'compaction', encrypted_content: encrypted };
}

/**
 * Replaces the compaction items of a request by messages, for an upstream without compaction items.
 * @throws RouterError `invalid_request` for a summary that was not sealed for this owner; `store_unavailable` if the owner's key is missing
 */
export function expandCompaction(request: JsonObject, unseal: ModelTraits['unseal']): JsonObject {
  const body = expandSummaries(request, unseal);
  const input = Array.isArray(body['input']) ? body['input'] : [];
  const index = input.findIndex((item) => readType(item) === 'compaction');
  if (index >= 0) throw createUnverifiedError(`input[${index}]`);
  if (!requestsCompaction(body)) return body;
  const items = input.map((item) =>
    readType(item) === 'compaction_trigger' ? createUserMessage(summaryInstruction) : item,
  );
  const { text: _, ...rest } = body;
  // The tools stay, because some upstreams refuse a history with calls of tools that are not offered.
  return { ...rest, input: items, ...(hasTools(body) && { tool_choice: 'none' }) };
}

/**
 * Replaces the summaries that this router has sealed for the owner by messages, because no upstream can read a sealed summary.
 * @throws RouterError `store_unavailable` if the owner's key is missing
 */
export function expandSummaries(body: JsonObject, unseal: ModelTraits['unseal']): JsonObject {
  const { input } = body;
  if (!Array.isArray(input) || !input.some((item) => readType(item) === 'compaction')) return body;
  if (!unseal) throw createUnknownSecretError('opens');
  const items = input.map((item) => {
    const summary = readType(item) === 'compaction' ? unsealSummary(item, unseal) : undefined;
    return summary === undefined ? item : createUserMessage(writeSummaryText(summary));
  });
  return { ...body, input: items };
}

function unsealSummary(item: unknown, unseal: NonNullable<ModelTraits['unseal']>): string | undefined {
  const sealed = isJsonObject(item) ? item['encrypted_content'] : undefined;
  const opened = typeof sealed === 'string' ? unseal(sealed) : undefined;
  const summary = opened === undefined ? undefined : parseUpstreamJson(opened);
  return isJsonObject(summary) && typeof summary['summary'] === 'string' ? summary['summary'] : undefined;
}

/** Creates the error for a missing secret. A process that starts while Redis is unreachable gets the secret later. */
function createUnknownSecretError(action: 'seals' | 'opens'): RouterError {
  return new RouterError('store_unavailable', `The secret that ${action} the summary is not known yet.`, {
    retryAfter: 2,
  });
}

function createUnverifiedError(param: string): RouterError {
  return new RouterError(
    'invalid_request',
    `The encrypted content of ${param} could not be verified: this router has not made it for you, or its secret has changed.`,
    { param: `${param}.encrypted_content` },
  );
}

function hasTools({ tools, input }: JsonObject): boolean {
  if (Array.isArray(tools) && tools.length > 0) return true;
  return Array.isArray(input) && input.some((item) => readType(item) === 'additional_tools');
}

function createUserMessage(text: string): JsonObject {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}
