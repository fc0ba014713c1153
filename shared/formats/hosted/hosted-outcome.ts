/** A page that a search has found. */
export interface SearchResult {
  title: string;
  url: string;
  /** Text of the page, or an excerpt of it; '' if the search gives none. */
  text: string;
  /** Its date or age, in the words of the search; undefined if it gives none. */
  age: string | undefined;
}

/** Why a call of a hosted tool gave nothing. `url_unknown`: nobody but the model has named the address. */
export type HostedFailure =
  | 'unavailable'
  | 'invalid_input'
  | 'url_not_allowed'
  | 'url_unknown'
  | 'too_many_requests'
  | 'max_uses_exceeded';

/** What came of a call of a hosted tool. Texts are within the registry's limit. */
export type HostedOutcome =
  | { kind: 'found'; results: readonly SearchResult[] }
  | { kind: 'fetched'; url: string; text: string }
  /** A tool of an MCP server has run; `isError` if it says that it failed. */
  | { kind: 'output'; text: string; isError: boolean }
  | { kind: 'failed'; reason: HostedFailure; message: string };

/** What the model reads of an outcome. */
export function textOfOutcome(outcome: HostedOutcome): string {
  switch (outcome.kind) {
    case 'found':
      return textOfResults(outcome.results);
    case 'fetched':
    case 'output':
      return outcome.text;
    case 'failed':
      return outcome.message;
  }
}

/** Whether an outcome is a failure, to the model. */
export function isFailure(outcome: HostedOutcome): boolean {
  return outcome.kind === 'failed' || (outcome.kind === 'output' && outcome.isError);
}

/** Results as text, numbered from 1. */
export function textOfResults(results: readonly SearchResult[]): string {
  if (results.length === 0) return 'The search found nothing.';
  return results
    .map(({ title, url, text, age }, at) =>
      [`${at + 1}. ${title}`, url, ...(age === undefined ? [] : [age]), text].filter((line) => line !== '').join('\n'),
    )
    .join('\n\n');
}
