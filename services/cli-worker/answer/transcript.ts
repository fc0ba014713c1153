import { textOf, type Conversation } from '#shared/translate/conversation/conversation.ts';

/**
 * A conversation as one text, for CLIs that have no other way to be told what was said before. A conversation without
 * history is just its question.
 */
export function transcript({ history, question }: Conversation): string {
  if (history.length === 0) return textOf(question);
  const turns = history.map(({ role, blocks }) => `<${role}>\n${textOf(blocks)}\n</${role}>`);
  return [
    'The conversation so far, oldest turn first:',
    ...turns,
    'Answer the following, as the assistant of that conversation:',
    textOf(question),
  ].join('\n\n');
}
