import type { ModelOperation } from '#shared/core/operation.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import type { HttpUpstreamFormat } from '../../upstream-format.ts';
import { readChatError } from '../chat/upstream-error.ts';
import { encodeForm } from '../encode-form.ts';

/** Creates the upstream format for an operation of OpenAI that turns speech into text. Errors have the form of chat completions. */
export function createSoundUpstream(
  { name, estimateInput }: Pick<ClientFormat, 'name' | 'estimateInput'>,
  { path, operation }: { path: string; operation: ModelOperation },
): HttpUpstreamFormat {
  return {
    name,
    operation,
    path,
    headers: {},
    encode: encodeForm,
    estimateInput,
    readError: readChatError,
  };
}
