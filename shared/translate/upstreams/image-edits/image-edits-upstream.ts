import { imageEditsFormat } from '#shared/formats/image-edits/image-edits-format.ts';
import type { HttpUpstreamFormat } from '../../upstream-format.ts';
import { readChatError } from '../chat/upstream-error.ts';
import { encodeForm } from '../encode-form.ts';

/** OpenAI's image edits, as OpenAI and some engines serve them. Errors have the form of chat completions. */
export const imageEditsUpstream: HttpUpstreamFormat = {
  name: 'image-edits',
  operation: 'redraw',
  path: '/images/edits',
  headers: {},
  encode: encodeForm,
  estimateInput: (request) => imageEditsFormat.estimateInput(request),
  readError: readChatError,
};
