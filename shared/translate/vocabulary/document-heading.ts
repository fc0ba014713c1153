import type { DocumentBlock } from '#shared/formats/messages/request.ts';

/** Returns the text to put in front of a document in other formats: its title and its context; '' if it has neither. */
export function documentHeading({ title, context }: DocumentBlock): string {
  return [title, context].map((text) => (typeof text === 'string' && text !== '' ? `${text}\n\n` : '')).join('');
}
