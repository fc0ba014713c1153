import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { parseUpstreamJson } from '../upstreams/parse-upstream-json.ts';
import type { AnswerContext, ModelTraits } from '../translation.ts';
import { summaryText } from '../vocabulary/summary-text.ts';

/** The message to the model in place of a `compaction_trigger`. */
const summaryInstruction = `Write a summary of this conversation for a model that continues it and sees nothing else of it.
Say what the user wants, in their own words where they matter, what was decided and why, what was done with which files,
commands and results, what failed, and what remains to be done next. Keep names, paths, numbers and identifiers exact.
Call no tool, and answer with the summary alone.`;

/** Whether a request asks for a summary of its conversation. The answer to such a request is one `compaction` item. */
export function requestsCompaction({ input }: JsonObject): boolean {
  return Array.isArray(input) && input.some((item) => typeOf(item) === 'compaction_trigger');
}

/**
 * Returns the item that replaces a conversation in later requests, with the sealed summary of the conversation.
 * @throws RouterError `upstream_failed` if the summary is empty, `store_unavailable` if there is no key to seal it
 */
export function createCompactionItem({ id, seal }: Pick<AnswerContext, 'id' | 'seal'>, summary: string): JsonObject {
  if (summary.trim() === '')
    throw new RouterError('upstream_failed', 'The model wrote no summary of the conversation.');
  if (!seal) throw unknownSecretError('seals');
  const encrypted = seal(JSON.stringify({ summary }));
  return { id: id.replace(/^resp_|^/, 'cmp_'), type: 'compaction', encrypted_content: encrypted };
}

/**
 * Replaces the compaction items of a request by messages, for an upstream that does not know compaction items.
 * @throws RouterError `invalid_request` for a summary that was not sealed for this owner, or as `expandSummaries` does
 */
export function expandCompaction(request: JsonObject, unseal: ModelTraits['unseal']): JsonObject {
  const body = expandSummaries(request, unseal);
  const input = Array.isArray(body['input']) ? body['input'] : [];
  const at = input.findIndex((item) => typeOf(item) === 'compaction');
  if (at >= 0) throw unverifiedError(`input[${at}]`);
  if (!requestsCompaction(body)) return body;
  const items = input.map((item) => (typeOf(item) === 'compaction_trigger' ? userMessage(summaryInstruction) : item));
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
  if (!Array.isArray(input) || !input.some((item) => typeOf(item) === 'compaction')) return body;
  if (!unseal) throw unknownSecretError('opens');
  const items = input.map((item) => {
    const summary = typeOf(item) === 'compaction' ? unsealSummary(item, unseal) : undefined;
    return summary === undefined ? item : userMessage(summaryText(summary));
  });
  return { ...body, input: items };
}

function unsealSummary(item: unknown, unseal: NonNullable<ModelTraits['unseal']>): string | undefined {
  const sealed = isJsonObject(item) ? item['encrypted_content'] : undefined;
  const opened = typeof sealed === 'string' ? unseal(sealed) : undefined;
  const summary = opened === undefined ? undefined : parseUpstreamJson(opened);
  return isJsonObject(summary) && typeof summary['summary'] === 'string' ? summary['summary'] : undefined;
}

/** Returns the error for a missing secret. A process that started while Redis was unreachable does not have the secret yet. */
function unknownSecretError(does: 'seals' | 'opens'): RouterError {
  return new RouterError('store_unavailable', `The secret that ${does} the summary is not known yet.`, {
    retryAfter: 2,
  });
}

function unverifiedError(param: string): RouterError {
  return new RouterError(
    'invalid_request',
    `The encrypted content of ${param} could not be verified: this router has not made it for you, or its secret has changed.`,
    { param: `${param}.encrypted_content` },
  );
}

function hasTools({ tools, input }: JsonObject): boolean {
  if (Array.isArray(tools) && tools.length > 0) return true;
  return Array.isArray(input) && input.some((item) => typeOf(item) === 'additional_tools');
}

function userMessage(text: string): JsonObject {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}

function typeOf(item: unknown): string | undefined {
  return isJsonObject(item) && typeof item['type'] === 'string' ? item['type'] : undefined;
}
