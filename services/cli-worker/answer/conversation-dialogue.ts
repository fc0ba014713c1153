import { type Conversation, conversationUpstream } from '#shared/translate/conversation/conversation.ts';
import { conversationTranslations } from '#shared/translate/translations.ts';
import type { AnswerPart } from '../clis/cli.ts';
import { chatDone, endChunk, partChunk, wholeChatBody } from './chat-chunks.ts';
import type { Dialogue } from './dialogue.ts';
import { AnswerLimit } from './limit-answer.ts';

/**
 * The dialogue with CLIs that read a conversation and answer with text. The pieces of an answer are written as chunks of the chat format.
 */
export const conversationDialogue: Dialogue<Conversation, AnswerPart> = {
  upstream: conversationUpstream,
  translations: conversationTranslations,
  limits: (conversation) => new AnswerLimit(conversation),
  event: partChunk,
  encodeEnd: (outcome) => [endChunk(outcome), chatDone],
  encodeWhole: wholeChatBody,
};
