import type { ResponsesTool } from '#shared/formats/responses/request.ts';
import { flattenTools } from './flatten-tools.ts';

/**
 * Returns the text that the model gets as the result of the client's tool search: the names of the found tools. The tools themselves are
 * offered together with the tools of the request.
 */
export function describeFoundTools(found: readonly ResponsesTool[]): string {
  const names = flattenTools({ model: '', tools: [...found] }).tools.map(({ name }) => name);
  return names.length === 0 ? 'No tools found.' : `Tools that can be called now: ${names.join(', ')}`;
}
