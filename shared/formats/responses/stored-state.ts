import { RouterError } from '#shared/core/errors.ts';
import type { ResponsesRequest } from './request.ts';

/**
 * Refuses what refers to state on a server: an upstream's own state belongs to all that use the router's account there.
 * @throws RouterError `unsupported_parameter`
 */
export function refuseStoredState({ previous_response_id: previous, conversation, input }: ResponsesRequest): void {
  if (previous !== undefined && previous !== null) throw refused('previous_response_id', 'earlier responses');
  if (conversation !== undefined && conversation !== null) throw refused('conversation', 'conversations');
  const at = Array.isArray(input) ? input.findIndex(({ type }) => type === 'item_reference') : -1;
  if (at >= 0) throw refused(`input[${at}].type`, 'items of earlier responses');
}

function refused(param: string, what: string): RouterError {
  return new RouterError(
    'unsupported_parameter',
    `Unsupported value for '${param}': ${what} are not stored here. Send the whole input, with store: false.`,
    { param },
  );
}
