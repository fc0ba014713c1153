import type { JsonObject } from '#shared/core/json.ts';
import type { HostedCall } from '../../hosted/hosted-request.ts';
import type { HostedFailure, HostedOutcome, SearchResult } from '../../hosted/hosted-outcome.ts';
import { encodeResultText } from './result-text-encoding.ts';

/** Marks a call that the model made directly, without a program in between. */
export const directCaller: JsonObject = { type: 'direct' };

/** Returns the block that shows the client the outcome of a hosted call (Anthropic API reference, "Web search tool", "Web fetch tool"). */
export function hostedResultBlock(
  { id, hosted }: Pick<HostedCall, 'id' | 'hosted'>,
  outcome: HostedOutcome,
): JsonObject {
  const type = hosted.kind === 'web_fetch' ? 'web_fetch_tool_result' : 'web_search_tool_result';
  return { type, tool_use_id: id, content: contentOf(type, outcome), caller: directCaller };
}

function contentOf(type: string, outcome: HostedOutcome): JsonObject | JsonObject[] {
  switch (outcome.kind) {
    case 'found':
      return outcome.results.map(resultBlock);
    case 'fetched':
      return fetchedBlock(outcome.url, outcome.text);
    case 'output':
      return { type: `${type}_error`, error_code: errorCodeOf('unavailable') };
    case 'failed':
      return { type: `${type}_error`, error_code: errorCodeOf(outcome.reason) };
  }
}

function resultBlock({ title, url, text, age }: SearchResult): JsonObject {
  return { type: 'web_search_result', title, url, encrypted_content: encodeResultText(text), page_age: age ?? null };
}

function fetchedBlock(url: string, text: string): JsonObject {
  const source = { type: 'text', media_type: 'text/plain', data: text };
  const content = { type: 'document', source, title: null, citations: null };
  return { type: 'web_fetch_result', url, content, retrieved_at: null };
}

function errorCodeOf(reason: HostedFailure): string {
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
