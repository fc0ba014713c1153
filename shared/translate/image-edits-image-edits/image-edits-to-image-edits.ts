import { imageEditsFormat } from '#shared/formats/image-edits/image-edits-format.ts';
import { answerRules } from '../images-images/field-rules.ts';
import { picturesReply } from '../images-images/pictures-reply.ts';
import { neverStreamed } from '../never-streamed.ts';
import type { Translation } from '../translation.ts';
import { imageEditsUpstream } from '../upstreams/image-edits/image-edits-upstream.ts';
import { requestRules } from './field-rules.ts';

export const imageEditsToImageEdits: Translation = {
  client: imageEditsFormat,
  upstream: imageEditsUpstream,
  requestRules,
  answerRules,
  passesHeaders: false,
  request: (body, { model }) => ({ ...body, model }),
  reply: picturesReply,
  stream: neverStreamed,
};
