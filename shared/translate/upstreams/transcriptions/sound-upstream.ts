import type { ModelOperation } from '#shared/core/operation.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import type { HttpUpstreamFormat } from '../../upstream-format.ts';
import { upstreamErrorFromChat } from '../chat/upstream-error.ts';
import { encodeForm } from '../encode-form.ts';

/** Creates the upstream format for one of OpenAI's operations that turn speech into text. Errors are those of chat completions. */
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
    readError: upstreamErrorFromChat,
  };
}
