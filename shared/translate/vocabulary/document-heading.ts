import type { DocumentBlock } from '#shared/formats/messages/request.ts';

/** What a model of another format reads before a document: its title and its context; '' for neither. */
export function documentHeading({ title, context }: DocumentBlock): string {
  return [title, context].map((text) => (typeof text === 'string' && text !== '' ? `${text}\n\n` : '')).join('');
}
