import type { ResponsesTool } from '#shared/formats/responses/request.ts';
import { flattenTools } from './flatten-tools.ts';

/**
 * The text of a search's result for the model: the names of the tools that the client's search has found. The tools themselves are
 * offered with those of the request.
 */
export function foundTools(found: readonly ResponsesTool[]): string {
  const names = flattenTools({ model: '', tools: [...found] }).tools.map(({ name }) => name);
  return names.length === 0 ? 'No tools found.' : `Tools that can be called now: ${names.join(', ')}`;
}
