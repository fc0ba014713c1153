import type { DocumentBlock } from '#shared/formats/messages/request.ts';

/** Writes the text before a document in other formats: its title and its context; '' if the document has neither. */
export function writeDocumentHeading({ title, context }: DocumentBlock): string {
  return [title, context].map((text) => (typeof text === 'string' && text !== '' ? `${text}\n\n` : '')).join('');
}
