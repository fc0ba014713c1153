import type { ModelOperation } from '#shared/core/operation.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import type { HttpUpstreamFormat } from '../../upstream-format.ts';
import { upstreamErrorFromChat } from '../chat/upstream-error.ts';
import { formBody } from '../form-body.ts';

/** Returns one of OpenAI's formats that write down speech, as OpenAI and some engines serve them. Errors are those of chat completions. */
export function soundUpstream(
  { name, estimateInput }: Pick<ClientFormat, 'name' | 'estimateInput'>,
  { path, operation }: { path: string; operation: ModelOperation },
): HttpUpstreamFormat {
  return {
    name,
    operation,
    path,
    headers: {},
    encode: formBody,
    estimateInput,
    readError: upstreamErrorFromChat,
  };
}
