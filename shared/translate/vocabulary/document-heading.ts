import type { DocumentBlock } from '#shared/formats/messages/request.ts';

/** Returns a document's title and context as text in front of the document, for models of other formats; '' if it has neither. */
export function documentHeading({ title, context }: DocumentBlock): string {
  return [title, context].map((text) => (typeof text === 'string' && text !== '' ? `${text}\n\n` : '')).join('');
}
