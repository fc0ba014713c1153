import { type Conversation, conversationUpstream } from '#shared/translate/conversation/conversation.ts';
import { conversationTranslations } from '#shared/translate/translations.ts';
import type { AnswerPart } from '../clis/cli.ts';
import { chatDone, encodeEnd, encodePart, buildChatBody } from './chat-chunks.ts';
import type { Dialogue } from './dialogue.ts';
import { AnswerLimit } from './answer-limit.ts';

/**
 * The dialogue with CLIs that read a conversation and answer with text. The pieces of an answer are written as chunks of the chat format.
 */
export const conversationDialogue: Dialogue<Conversation, AnswerPart> = {
  upstream: conversationUpstream,
  translations: conversationTranslations,
  createLimiter: (conversation) => new AnswerLimit(conversation),
  encodePiece: encodePart,
  encodeEnd: (outcome) => [encodeEnd(outcome), chatDone],
  encodeWhole: buildChatBody,
};
