export interface SearchResult {
  title: string;
  url: string;
  /** Text of the page, or an excerpt; '' if the search returns none. */
  text: string;
  /** The page's date or age in the words of the search; undefined if the search returns neither. */
  age: string | undefined;
}

/** Why a call of a hosted tool failed. `url_unknown`: only the model has named the URL. */
export type HostedFailure =
  | 'unavailable'
  | 'invalid_input'
  | 'url_not_allowed'
  | 'url_unknown'
  | 'too_many_requests'
  | 'max_uses_exceeded';

/** The outcome of a hosted tool's call. Texts are no longer than the registry allows. */
export type HostedOutcome =
  | { kind: 'found'; results: readonly SearchResult[] }
  | { kind: 'fetched'; url: string; text: string }
  /** The output of an MCP server's tool; `isError` if the tool reports a failure. */
  | { kind: 'output'; text: string; isError: boolean }
  | { kind: 'failed'; reason: HostedFailure; message: string };

export function writeOutcomeText(outcome: HostedOutcome): string {
  switch (outcome.kind) {
    case 'found':
      return writeResultsText(outcome.results);
    case 'fetched':
    case 'output':
      return outcome.text;
    case 'failed':
      return outcome.message;
  }
}

/** Whether the model receives an outcome as a failure. */
export function isFailure(outcome: HostedOutcome): boolean {
  return outcome.kind === 'failed' || (outcome.kind === 'output' && outcome.isError);
}

export function writeResultsText(results: readonly SearchResult[]): string {
  if (results.length === 0) return 'The search found nothing.';
  return results
    .map(({ title, url, text, age }, at) =>
      [`${at + 1}. ${title}`, url, ...(age === undefined ? [] : [age]), text].filter((line) => line !== '').join('\n'),
    )
    .join('\n\n');
}

/**
 * The description of the router's web search for models without a search of their own. The router cites a search result where the answer
 * links to it, so the text asks for links (see decision 0017).
 */
export const searchDescription =
  'Searches the web and returns the pages that it finds, each with its title, its address and a text. ' +
  'An answer that rests on a page links to it in Markdown: [title](address).';
