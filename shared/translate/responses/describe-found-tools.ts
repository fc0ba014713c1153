import type { ResponsesTool } from '#shared/formats/responses/request.ts';
import { flattenTools } from './flatten-tools.ts';

/**
 * Returns the names of the tools that the client's tool search has found, as the search result for the model. The tools themselves are
 * offered together with the tools of the request.
 */
export function describeFoundTools(found: readonly ResponsesTool[]): string {
  const names = flattenTools({ model: '', tools: [...found] }).tools.map(({ name }) => name);
  return names.length === 0 ? 'No tools found.' : `Tools that can be called now: ${names.join(', ')}`;
}
