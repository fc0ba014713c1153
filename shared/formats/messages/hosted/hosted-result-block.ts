import type { JsonObject } from '#shared/core/json.ts';
import type { HostedCall } from '../../hosted/hosted-request.ts';
import type { HostedFailure, HostedOutcome, SearchResult } from '../../hosted/hosted-outcome.ts';
import { encodeResultText } from './result-citations.ts';

/** Marks a call that the model made directly, without a program in between. */
export const directCaller: JsonObject = { type: 'direct' };

/** Returns the block that shows the client the outcome of a hosted call (Anthropic API reference, "Web search tool", "Web fetch tool"). */
export function createHostedResultBlock(
  { id, hosted }: Pick<HostedCall, 'id' | 'hosted'>,
  outcome: HostedOutcome,
): JsonObject {
  const type = hosted.kind === 'web_fetch' ? 'web_fetch_tool_result' : 'web_search_tool_result';
  return { type, tool_use_id: id, content: createContent(type, outcome), caller: directCaller };
}

function createContent(type: string, outcome: HostedOutcome): JsonObject | JsonObject[] {
  switch (outcome.kind) {
    case 'found':
      return outcome.results.map(createResultBlock);
    case 'fetched':
      return createFetchedBlock(outcome.url, outcome.text);
    case 'output':
      return { type: `${type}_error`, error_code: toErrorCode('unavailable') };
    case 'failed':
      return { type: `${type}_error`, error_code: toErrorCode(outcome.reason) };
  }
}

function createResultBlock({ title, url, text, age }: SearchResult): JsonObject {
  return { type: 'web_search_result', title, url, encrypted_content: encodeResultText(text), page_age: age ?? null };
}

function createFetchedBlock(url: string, text: string): JsonObject {
  const source = { type: 'text', media_type: 'text/plain', data: text };
  const content = { type: 'document', source, title: null, citations: null };
  return { type: 'web_fetch_result', url, content, retrieved_at: null };
}

function toErrorCode(reason: HostedFailure): string {
  switch (reason) {
    case 'invalid_input':
      return 'invalid_tool_input';
    case 'url_unknown':
      return 'url_not_in_prior_context';
    case 'unavailable':
    case 'url_not_allowed':
    case 'too_many_requests':
    case 'max_uses_exceeded':
      return reason;
  }
}
